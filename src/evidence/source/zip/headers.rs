//! The records of a zip archive. Layout: PKWARE APPNOTE 6.3.10, sections 4.3 and 4.5.

/// Begins an entry.
pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// Begins an entry of the directory at the end.
pub(super) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
/// Begins the record that ends an archive.
pub(super) const END: [u8; 4] = *b"PK\x05\x06";
/// Begins the zip64 record before it.
pub(super) const END_64: [u8; 4] = *b"PK\x06\x06";
/// Begins the record that says where the zip64 record is.
pub(super) const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
/// May begin the record behind an entry's data.
pub(super) const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";

/// Bytes of a local header before the name.
pub(super) const LOCAL_BYTES: usize = 30;
/// Bytes of a directory entry before the name.
pub(super) const CENTRAL_BYTES: usize = 46;
/// Longest descriptor: signature, checksum, two lengths of eight bytes.
pub(super) const DESCRIPTOR_BYTES: usize = 24;

/// What stands in a 32-bit length whose value is in the zip64 field.
const ELSEWHERE: u64 = 0xffff_ffff;

/// How an entry's bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflate,
    Zstd,
    Xz,
    Other(u16),
}

/// The head of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) method: Method,
    pub(super) encrypted: bool,
    /// Checksum and lengths stand behind the data.
    pub(super) has_descriptor: bool,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) name_bytes: u16,
    pub(super) extra_bytes: u16,
}

impl Local {
    pub(super) fn parse(bytes: &[u8; LOCAL_BYTES]) -> Self {
        let flags = u16_at(bytes, 6);
        Self {
            method: match u16_at(bytes, 8) {
                0 => Method::Stored,
                8 => Method::Deflate,
                93 => Method::Zstd,
                95 => Method::Xz,
                other => Method::Other(other),
            },
            encrypted: flags & 1 != 0,
            has_descriptor: flags & 8 != 0,
            crc: u32_at(bytes, 14),
            packed: u64::from(u32_at(bytes, 18)),
            size: u64::from(u32_at(bytes, 22)),
            name_bytes: u16_at(bytes, 26),
            extra_bytes: u16_at(bytes, 28),
        }
    }

    /// Takes the lengths that do not fit 32 bits from the extra fields.
    pub(super) fn read_extra(&mut self, mut extra: &[u8]) {
        while let Some((head, rest)) = extra.split_at_checked(4) {
            let (id, length) = (u16_at(head, 0), usize::from(u16_at(head, 2)));
            let Some((mut field, rest)) = rest.split_at_checked(length) else { return };
            extra = rest;
            if id != 1 {
                continue;
            }
            // The size stands before the packed size, each only where it is needed.
            for length in [&mut self.size, &mut self.packed] {
                if *length == ELSEWHERE
                    && let Some((value, rest)) = field.split_first_chunk::<8>()
                {
                    *length = u64::from_le_bytes(*value);
                    field = rest;
                }
            }
        }
    }

    /// How long the packed bytes are, where the header knows.
    pub(super) fn packed_length(&self) -> Option<u64> {
        (!self.has_descriptor || self.packed > 0).then_some(self.packed)
    }
}

/// What was read of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
}

impl Seen {
    /// The length of the descriptor that `bytes` begin with, if it says what was seen. Its signature is optional, and
    /// its lengths have four or eight bytes each, with nothing to tell which: the one that fits is meant.
    pub(super) fn descriptor_length(self, bytes: &[u8]) -> Option<usize> {
        let (packed, size) = (self.packed.to_le_bytes(), self.size.to_le_bytes());
        for signature in [&DESCRIPTOR[..], &[]] {
            let rest =
                bytes.strip_prefix(signature).and_then(|rest| rest.strip_prefix(&self.crc.to_le_bytes()));
            for width in [8, 4] {
                let lengths = rest.and_then(|rest| rest.strip_prefix(packed.get(..width)?));
                if lengths.is_some_and(|lengths| lengths.starts_with(size.get(..width).unwrap_or(&size))) {
                    return Some(signature.len() + 4 + 2 * width);
                }
            }
        }
        None
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u16::from_le_bytes(*chunk))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_forms_of_a_descriptor() {
        let seen = Seen { crc: 0x0403_0201, packed: 5, size: 0x1_0000_0006 };
        let narrow = [1, 2, 3, 4, 5, 0, 0, 0, 6, 0, 0, 0];
        let wide = [1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0];
        let signed = |rest: &[u8]| [&DESCRIPTOR[..], rest, b"PK"].concat();
        assert_eq!(seen.descriptor_length(&signed(&narrow)), Some(16));
        assert_eq!(seen.descriptor_length(&signed(&wide)), Some(24));
        assert_eq!(seen.descriptor_length(&narrow), Some(12));
        assert_eq!(seen.descriptor_length(&wide), Some(20));
        assert_eq!(seen.descriptor_length(&wide[..11]), None);
        assert_eq!(Seen { crc: 0, ..seen }.descriptor_length(&wide), None);
    }

    #[test]
    fn an_empty_entry_has_the_longer_descriptor_where_both_fit() {
        let empty = Seen { crc: 0, packed: 2, size: 0 };
        let wide = [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(empty.descriptor_length(&[&DESCRIPTOR[..], &wide].concat()), Some(24));
        assert_eq!(
            empty.descriptor_length(&[&DESCRIPTOR[..], &wide[..12], &LOCAL, &[0; 8]].concat()),
            Some(16)
        );
    }

    #[test]
    fn lengths_of_zip64() {
        let mut bytes = [0; LOCAL_BYTES];
        bytes[18..26].fill(0xff);
        let mut local = Local::parse(&bytes);
        let field = [&[9_u8, 0, 0, 0, 1, 0, 16, 0][..], &(6_u64 << 32).to_le_bytes(), &7_u64.to_le_bytes()];
        local.read_extra(&field.concat());
        assert_eq!((local.size, local.packed), (6 << 32, 7));
        // A field that claims more than there is changes nothing.
        let mut local = Local::parse(&bytes);
        local.read_extra(&[1, 0, 200, 0, 1]);
        assert_eq!(local.size, 0xffff_ffff);
    }
}
