// SPDX-License-Identifier: Apache-2.0

//! The one part of VDAF that our own code has no use for: its extendable output. Each line that is
//! read is a seed, a tag, a binder (in hexadecimal digits, "-" for none) and a number; each line
//! that is written is so many elements of Field128 drawn from these, or, for the number 0, 32 bytes.
use prio::codec::Encode;
use prio::field::Field128;
use prio::vdaf::xof::{IntoFieldVec, Xof, XofTurboShake128};

fn bytes(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('-');
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let seed: [u8; 32] = bytes(words[0]).try_into().unwrap();
        let mut xof = XofTurboShake128::init(&seed, &[&bytes(words[1])]);
        xof.update(&bytes(words[2]));
        let mut out = Vec::new();
        match words[3].parse().unwrap() {
            0 => xof.into_seed().encode(&mut out).unwrap(),
            n => xof.into_seed_stream().into_field_vec::<Field128>(n).iter().for_each(|x| x.encode(&mut out).unwrap()),
        }
        println!("{}", out.iter().map(|b| format!("{b:02x}")).collect::<String>());
    }
}
