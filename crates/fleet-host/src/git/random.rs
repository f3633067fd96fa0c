//! Unique names.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::error::GitError;

/// Random hexadecimal digits, at most 64.
pub(super) fn hex(digits: usize) -> Result<String, GitError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [[0; 16]; 2];
    File::open(source)
        .and_then(|mut file| file.read_exact(bytes.as_flattened_mut()))
        .map_err(GitError::io(source))?;
    let mut hex = bytes.map(|half| format!("{:032x}", u128::from_be_bytes(half))).concat();
    hex.truncate(digits);
    Ok(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_as_many_digits_as_are_wanted() {
        for digits in [12, 40, 64] {
            let name = hex(digits).unwrap();
            assert_eq!(name.len(), digits);
            assert_ne!(name, hex(digits).unwrap());
        }
    }
}
