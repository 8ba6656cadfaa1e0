//! Archives and compressed streams, built by encoders that are not ours.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The name of the one entry in the archives of [`Pack`].
pub(crate) const ENTRY: &str = "logs/node_decode_w0.out";

/// One way to pack one log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pack {
    Gzip,
    GzipMembers,
    Zstd,
    ZstdFrames,
    Xz,
    XzStreams,
    Tar,
    TarPax,
    ZipDeflated,
    ZipStored,
    ZipDeflatedStream,
    ZipStoredStream,
}

impl Pack {
    pub(crate) const ALL: [Self; 12] = [
        Self::Gzip,
        Self::GzipMembers,
        Self::Zstd,
        Self::ZstdFrames,
        Self::Xz,
        Self::XzStreams,
        Self::Tar,
        Self::TarPax,
        Self::ZipDeflated,
        Self::ZipStored,
        Self::ZipDeflatedStream,
        Self::ZipStoredStream,
    ];

    pub(crate) fn is_archive(self) -> bool {
        !matches!(
            self,
            Self::Gzip | Self::GzipMembers | Self::Zstd | Self::ZstdFrames | Self::Xz | Self::XzStreams
        )
    }

    /// The bytes that decide what it is.
    pub(crate) fn magic_bytes(self) -> usize {
        match self {
            Self::Tar | Self::TarPax => 512,
            Self::Xz | Self::XzStreams => 6,
            _ => 4,
        }
    }

    pub(crate) fn pack(self, log: &[u8]) -> Vec<u8> {
        let (half, rest) = log.split_at(log.len() / 2);
        match self {
            Self::Gzip => gzip(log),
            Self::GzipMembers => [gzip(half), gzip(b""), gzip(rest)].concat(),
            Self::Zstd => zstd(log),
            // A frame of another kind, as `pzstd` writes it, stands first.
            Self::ZstdFrames => {
                [&b"\x50\x2a\x4d\x18\x04\0\0\0skip"[..], &zstd(half), &zstd(b""), &zstd(rest)].concat()
            }
            Self::Xz => xz(log),
            // Streams may be padded by fours.
            Self::XzStreams => [xz(half), vec![0; 8], xz(rest)].concat(),
            Self::Tar => tar(&[(ENTRY, log)]),
            Self::TarPax => tar_pax(log),
            Self::ZipDeflated => zip(&[(ENTRY, log)], CompressionMethod::Deflated),
            Self::ZipStored => zip(&[(ENTRY, log)], CompressionMethod::Stored),
            Self::ZipDeflatedStream => zip_stream(&[(ENTRY, log)], CompressionMethod::Deflated),
            Self::ZipStoredStream => zip_stream(&[(ENTRY, log)], CompressionMethod::Stored),
        }
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// A frame that asks for a window of `1 << log` bytes, of blocks without compression.
pub(crate) fn zstd_window(log: u8, blocks: &[&[u8]]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3];
    for (index, block) in blocks.iter().enumerate() {
        let is_last = u32::from(index + 1 == blocks.len());
        let header = u32::try_from(block.len()).unwrap() << 3 | is_last;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn tar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

/// An entry whose name stands in an extended header.
fn tar_pax(log: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_pax_extensions([("path", ENTRY.as_bytes()), ("comment", b"a note")]).unwrap();
    builder.append(&tar_header("short", b'0', log.len() as u64), log).unwrap();
    builder.into_inner().unwrap()
}

/// A header with any name and any kind.
pub(crate) fn tar_header(name: &str, kind: u8, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

/// An archive of headers and contents as they are given, padded to blocks, with its end.
pub(crate) fn tar_raw(entries: &[(tar::Header, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (header, content) in entries {
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

pub(crate) fn zip(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An archive whose writer could not go back: lengths and checksums stand behind the data.
pub(crate) fn zip_stream(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new_stream(Vec::new());
    for (name, content) in entries {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
