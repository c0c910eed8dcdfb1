//! Record batches as Parquet files (zstd), and back.

use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// How all files are written.
pub(crate) fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("tautwire".to_owned())
        .build()
}

/// Writes one batch as a complete file.
///
/// # Errors
/// If the file cannot be written.
pub fn write<W: Write + Send>(to: W, batch: &RecordBatch) -> io::Result<()> {
    let mut writer =
        ArrowWriter::try_new(to, batch.schema(), Some(properties())).map_err(io::Error::other)?;
    writer.write(batch).map_err(io::Error::other)?;
    writer.close().map_err(io::Error::other)?;
    Ok(())
}

/// Reads a complete file.
///
/// # Errors
/// If the file cannot be read or is no Parquet.
pub fn read(path: &Path) -> io::Result<Vec<RecordBatch>> {
    let file = File::open(path)?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    reader.map_err(io::Error::other)?.collect::<Result<_, _>>().map_err(io::Error::other)
}
