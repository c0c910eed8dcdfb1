//! Prints the faults of a description: `cargo run -p tautwire-model --example faults -- FILE...`
#![allow(clippy::print_stdout)]

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let start = std::time::Instant::now();
        let loaded = tautwire_model::load(std::path::Path::new(&path))?;
        println!("{path}: read in {:?}", start.elapsed());
        for fault in &loaded.diagnostics {
            let source = &loaded.sources[fault.source];
            let (line, column) = source.line_and_column(fault.labels[0].span.start);
            println!(
                "{}:{line}:{column}: {:?} {}: {}",
                source.name, fault.severity, fault.code, fault.message
            );
            println!("    {}", fault.help.as_deref().unwrap_or_default());
        }
        if let Some(network) = loaded.network {
            let hops: usize = network.streams.iter().map(|stream| stream.hops.len()).sum();
            println!(
                "    {} nodes, {} ports, {} streams, {hops} hops, {} schedulers",
                network.nodes.len(),
                network.ports.len(),
                network.streams.len(),
                network.schedulers.len()
            );
        }
    }
    Ok(())
}
