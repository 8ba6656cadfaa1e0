//! Damage as users write it.

use std::str::FromStr;

use super::{Damage, DamageError, Rate, Wrapper};

impl FromStr for Damage {
    type Err = DamageError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut damage = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (name, value) =
                word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            match name {
                "truncated" => damage.truncated = rate("truncated", value)?,
                "interleaved" => damage.interleaved = rate("interleaved", value)?,
                "duplicated" => damage.duplicated = rate("duplicated", value)?,
                "glued" => damage.glued = rate("glued", value)?,
                "ansi" => damage.coloured = rate("ansi", value)?,
                "crlf" => {
                    no_rate("crlf", value)?;
                    damage.crlf = true;
                }
                "docker" => {
                    no_rate("docker", value)?;
                    damage.wrap(Wrapper::Docker)?;
                }
                "srun" => {
                    no_rate("srun", value)?;
                    damage.wrap(Wrapper::Srun)?;
                }
                "cri" => {
                    let split = value.map_or(Ok(Rate::NEVER), |value| rate("cri", Some(value)))?;
                    damage.wrap(Wrapper::Cri { split })?;
                }
                other => return Err(DamageError::Name(other.to_owned())),
            }
        }
        Ok(damage)
    }
}

impl Damage {
    fn wrap(&mut self, wrapper: Wrapper) -> Result<(), DamageError> {
        if self.wrapper == Wrapper::None {
            self.wrapper = wrapper;
            Ok(())
        } else {
            Err(DamageError::TwoWrappers)
        }
    }
}

fn rate(name: &'static str, value: Option<&str>) -> Result<Rate, DamageError> {
    let text = value.unwrap_or("");
    let (digits, scale) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    let share = digits.trim().parse::<f64>().ok().and_then(|number| Rate::new(number / scale));
    share.ok_or_else(|| DamageError::Rate { name, found: text.to_owned() })
}

fn no_rate(name: &'static str, value: Option<&str>) -> Result<(), DamageError> {
    value.map_or(Ok(()), |_| Err(DamageError::NoRate(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_damage_has_a_name() {
        let damage: Damage =
            "truncated=0.1, interleaved=2%,duplicated=0.3,glued=1,ansi=0,crlf,cri=5%".parse().unwrap();
        let expected = Damage {
            truncated: Rate(0.1),
            interleaved: Rate(0.02),
            duplicated: Rate(0.3),
            glued: Rate(1.0),
            coloured: Rate(0.0),
            crlf: true,
            wrapper: Wrapper::Cri { split: Rate(0.05) },
        };
        assert_eq!(damage, expected);
        assert!(damage.check().is_err());
        assert_eq!("".parse(), Ok(Damage::default()));
        assert_eq!("srun".parse::<Damage>().unwrap().wrapper, Wrapper::Srun);
    }

    #[test]
    fn what_is_no_damage_is_named() {
        for (text, message) in [
            ("shred", "unknown damage 'shred'; known are truncated, "),
            ("truncated", "damage 'truncated': expected a rate from 0 to 1, or in percent, found ''"),
            ("glued=1.5", "damage 'glued': expected a rate from 0 to 1, or in percent, found '1.5'"),
            ("ansi=nan", "damage 'ansi': expected a rate from 0 to 1, or in percent, found 'nan'"),
            ("crlf=0.1", "damage 'crlf' has no rate"),
            ("docker,cri", "docker, cri and srun wrap a whole file"),
        ] {
            let error = text.parse::<Damage>().unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
