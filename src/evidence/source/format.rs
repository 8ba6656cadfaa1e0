//! Formats by their first bytes. Names say nothing: logs are renamed, and archives come without a suffix.

use super::failure::Format;

/// Bytes that decide. A tar archive names itself at byte 257.
pub(in crate::evidence) const HEAD: usize = 512;

/// What the first bytes say about the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evidence) enum Kind {
    /// Something that may be a log.
    Text,
    /// A format that is read through.
    Packed(Format),
    /// A compressed format that is not read.
    Unsupported(&'static str),
    /// No text and no archive of texts.
    NotText(&'static str),
}

/// Formats whose first bytes are fixed. Few on purpose: what is not here is searched for records and has none.
const HEADS: [(&[u8], Kind); 24] = [
    (b"\x1f\x8b", Kind::Packed(Format::Gzip)),
    (b"\x28\xb5\x2f\xfd", Kind::Packed(Format::Zstd)),
    (b"\xfd7zXZ\0", Kind::Packed(Format::Xz)),
    (b"PK\x03\x04", Kind::Packed(Format::Zip)),
    (b"PK\x05\x06", Kind::Packed(Format::Zip)),
    (b"BZh", Kind::Unsupported("bzip2")),
    (b"\x04\x22\x4d\x18", Kind::Unsupported("lz4")),
    (b"\x1f\x9d", Kind::Unsupported("compress (.Z)")),
    (b"7z\xbc\xaf\x27\x1c", Kind::Unsupported("7z")),
    (b"Rar!\x1a\x07", Kind::Unsupported("rar")),
    (b"LZIP", Kind::Unsupported("lzip")),
    (b"\x7fELF", Kind::NotText("ELF")),
    (b"\x89PNG\r\n\x1a\n", Kind::NotText("PNG")),
    (b"\xff\xd8\xff", Kind::NotText("JPEG")),
    (b"GIF8", Kind::NotText("GIF")),
    (b"%PDF-", Kind::NotText("PDF")),
    (b"ARROW1", Kind::NotText("Arrow")),
    (b"SQLite format 3\0", Kind::NotText("SQLite")),
    (b"GGUF", Kind::NotText("GGUF")),
    (b"\x93NUMPY", Kind::NotText("NumPy")),
    (b"\x89HDF\r\n\x1a\n", Kind::NotText("HDF5")),
    (b"\0asm", Kind::NotText("WebAssembly")),
    (b"\xca\xfe\xba\xbe", Kind::NotText("Java class or Mach-O")),
    (b"\xcf\xfa\xed\xfe", Kind::NotText("Mach-O")),
];

/// What begins with `head`, its first [`HEAD`] bytes or all that it has.
pub(in crate::evidence) fn recognise(head: &[u8]) -> Kind {
    if head.get(257..262) == Some(b"ustar") {
        return Kind::Packed(Format::Tar);
    }
    if is_skippable_frame(head) {
        return Kind::Packed(Format::Zstd);
    }
    if is_safetensors(head) {
        return Kind::NotText("safetensors");
    }
    HEADS.iter().find(|(magic, _)| head.starts_with(magic)).map_or(Kind::Text, |(_, kind)| *kind)
}

/// `pzstd` begins with a frame that holds no data: `5x 2a 4d 18`, then its length.
fn is_skippable_frame(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Eight bytes of length, then the JSON that describes the tensors.
fn is_safetensors(head: &[u8]) -> bool {
    head.first_chunk::<8>().is_some_and(|length| u64::from_le_bytes(*length) < 100 << 20)
        && head.get(8..10) == Some(b"{\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_format_is_text() {
        for text in
            [&b""[..], b"[2026-10-12 01:02:03] Decode batch", b"P", b"\x1f", b"{\"log\":\"x\"}", &[0; 600]]
        {
            assert_eq!(recognise(text), Kind::Text, "{text:?}");
        }
    }

    #[test]
    fn formats_by_their_first_bytes() {
        assert_eq!(recognise(b"\x1f\x8b\x08"), Kind::Packed(Format::Gzip));
        assert_eq!(recognise(b"\x5e\x2a\x4d\x18\x04\0\0\0"), Kind::Packed(Format::Zstd));
        assert_eq!(recognise(b"\x10\0\0\0\0\0\0\0{\"a\":1}"), Kind::NotText("safetensors"));
        let mut tar = [0; HEAD];
        tar[257..262].copy_from_slice(b"ustar");
        assert_eq!(recognise(&tar), Kind::Packed(Format::Tar));
        assert_eq!(recognise(&tar[..261]), Kind::Text);
    }
}
