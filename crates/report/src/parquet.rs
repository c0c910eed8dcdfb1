//! Record batches as Parquet files (zstd), and back.

use std::fs::{self, File};
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

/// Writes one batch under a temporary name (`.NAME.PID.part`), and renames the file when its octets are on disk: it is there
/// completely or not at all, also after a crash. Writers of equal batches at one place do not harm each other.
///
/// # Errors
/// If the file cannot be written; a temporary file is removed.
pub fn write_atomically(place: &Path, batch: &RecordBatch) -> io::Result<()> {
    let name = place.file_name().ok_or_else(|| io::Error::other("a file needs a name"))?.to_string_lossy();
    let temporary = place.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = || {
        let mut file = File::create(&temporary)?;
        write(&mut file, batch)?;
        file.sync_all()?;
        fs::rename(&temporary, place)?;
        // The folder has the new name on disk only after this.
        File::open(place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?
            .sync_all()
    };
    written().inspect_err(|_| {
        // The reported error is the first one.
        let _ = fs::remove_file(&temporary);
    })
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
