//! Register names: spelling to file and back.

use super::ast::File;

/// Names accepted for every file, the canonical one first. Lower case; case is ignored in texts.
const NAMES: &[(File, &[&str], &str)] = &[
    (File::Temp, &["r"], "r"),
    (File::Literal, &["l"], "l"),
    (File::Array, &["x"], "x"),
    (File::Const, &["cb"], "cb"),
    (File::Immediate, &["icb"], "icb"),
    (File::Input, &["v"], "v"),
    (File::Output, &["o"], "o"),
    (File::Global, &["g"], "g"),
    (File::Mem, &["mem"], "mem"),
    (File::Shared, &["sr"], "sr"),
    (File::In, &["in"], "in"),
    (File::Out, &["out"], "out"),
    (File::WinCoord, &["vwincoord"], "vWinCoord"),
    (File::ObjIndex, &["vobjindex"], "vObjIndex"),
    (File::TidInGrp, &["vtidingrp", "vtid"], "vTidInGrp"),
    (File::TidInGrpFlat, &["vtidingrpflat"], "vTidInGrpFlat"),
    (File::AbsTid, &["vabstid", "vatid"], "vAbsTid"),
    (File::AbsTidFlat, &["vabstidflat"], "vAbsTidFlat"),
    (File::ThreadGrpId, &["vthreadgrpid", "vtgroupid"], "vThreadGrpId"),
    (File::ThreadGrpIdFlat, &["vthreadgrpidflat"], "vThreadGrpIdFlat"),
    (File::Timer, &["tmr"], "Tmr"),
];

/// Registers of the graphics pipeline and of DirectX 9.
const REFUSED: &[&str] = &[
    "vPrim",
    "vPrimCoord",
    "vPrimType",
    "vFace",
    "p",
    "a",
    "aL",
    "c",
    "i",
    "b",
    "oDepth",
    "oDepthLE",
    "oDepthGE",
    "oMask",
    "oStencil",
    "oFog",
    "oClip",
    "vicp",
    "vpc",
    "vocp",
    "vDomain",
    "vOutputControlPointID",
    "vInstanceID",
    "vCoverageMask",
    "vLineStipple",
    "vBaryCoord",
    "vPrimIndex",
    "vQuadIndex",
    "vIndex",
    "vInterp",
    "oInterp",
    "vT",
    "oT",
    "vPriColor",
    "oPriColor",
    "vSecColor",
    "oSecColor",
    "vSpriteCoord",
    "oSprite",
    "oPos",
    "oC",
    "oPsFog",
    "vPixIn",
    "oVtxOut",
    "oEdgeFlag",
    "this",
];

/// The file called `name`, letters only.
pub(super) fn file(name: &[u8]) -> Option<File> {
    if let [letter] = name {
        match letter | 0x20 {
            b'r' => return Some(File::Temp),
            b'l' => return Some(File::Literal),
            b'v' => return Some(File::Input),
            b'o' => return Some(File::Output),
            b'x' => return Some(File::Array),
            b'g' => return Some(File::Global),
            _ => {}
        }
    }
    if name.eq_ignore_ascii_case(b"cb") {
        return Some(File::Const);
    }
    NAMES
        .iter()
        .find(|(_, spellings, _)| spellings.iter().any(|s| s.as_bytes().eq_ignore_ascii_case(name)))
        .map(|&(file, ..)| file)
        .or_else(|| {
            let refused = REFUSED.iter().position(|r| r.as_bytes().eq_ignore_ascii_case(name));
            refused.map(|number| File::Refused(number as u8))
        })
}

/// Canonical name of a file.
pub(super) fn name(file: File) -> &'static str {
    match file {
        File::Refused(number) => REFUSED[usize::from(number)],
        _ => NAMES.iter().find(|(f, ..)| *f == file).map_or("", |&(_, _, canonical)| canonical),
    }
}

/// All canonical names, for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|&(_, _, canonical)| canonical)
}
