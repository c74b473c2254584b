//! The table of routines (`routines.txt`), and what is made of it: the functions that hand calls on, and the header. For the build
//! script and for the test of the header.

use std::fmt::Write as _;

/// A routine.
#[derive(Clone, Debug)]
pub struct Routine {
    /// Its name without the underscore.
    pub name: String,
    /// 1, 2 or 3.
    pub level: u32,
    kind: char,
    result: char,
    arguments: Vec<Argument>,
}

#[derive(Clone, Debug)]
struct Argument {
    name: String,
    role: Role,
    /// `t` the routine's type, `r` its real type.
    number: char,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Letter,
    Integer,
    Number,
    Read,
    Written,
}

const TABLE: &str = include_str!("../routines.txt");
const LETTERS: [&str; 6] = ["side", "uplo", "trans", "transa", "transb", "diag"];
const INTEGERS: [&str; 10] = ["n", "m", "k", "kl", "ku", "lda", "ldb", "ldc", "incx", "incy"];

/// All routines, in the order of the table.
///
/// # Panics
/// If a line is not as the head of the table says.
pub fn routines() -> Vec<Routine> {
    let (mut all, mut level) = (Vec::new(), 0);
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(number) = line.strip_prefix("level ") {
            level = number.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
            continue;
        }
        let parts: Vec<&str> = line.split(['=', '|']).collect();
        let (names, result) = (parts[0], parts[1].trim());
        let (_, arguments) = line.split_once('|').unwrap_or_else(|| panic!("{line}: no arguments"));
        for name in names.split_whitespace() {
            let (kind, name) = name.split_once(':').unwrap_or_else(|| panic!("{line}: no type"));
            all.push(Routine {
                name: name.into(),
                level,
                kind: kind.chars().next().unwrap_or('?'),
                result: result.chars().next().unwrap_or('?'),
                arguments: arguments.split_whitespace().map(Argument::new).collect(),
            });
        }
    }
    all
}

impl Argument {
    fn new(text: &str) -> Argument {
        let (text, number) = text.strip_suffix(":r").map_or((text, 't'), |text| (text, 'r'));
        let (role, name) = match text.chars().next() {
            Some('*') => (Role::Read, &text[1..]),
            Some('=') => (Role::Written, &text[1..]),
            _ if LETTERS.contains(&text) => (Role::Letter, text),
            _ if INTEGERS.contains(&text) => (Role::Integer, text),
            _ => (Role::Number, text),
        };
        Argument { name: name.into(), role, number }
    }

    fn is_complex(&self, kind: char) -> bool {
        self.number == 't' && matches!(kind, 'c' | 'z')
    }

    /// The type in C of its numbers.
    fn c(&self, kind: char) -> &'static str {
        match kind {
            _ if self.is_complex(kind) => "void",
            's' | 'c' => "float",
            _ => "double",
        }
    }

    fn rust(&self, kind: char) -> &'static str {
        match (kind, self.is_complex(kind)) {
            ('c', true) => "Complex32",
            (_, true) => "Complex64",
            ('s' | 'c', _) => "f32",
            _ => "f64",
        }
    }
}

impl Routine {
    /// The C name.
    pub fn cblas(&self) -> String {
        let by_address = matches!(self.kind, 'c' | 'z') && self.result == 't';
        format!("cblas_{}{}", self.name, if by_address { "_sub" } else { "" })
    }

    fn result_c(&self, cblas: bool) -> &'static str {
        match (self.result, self.kind) {
            ('-', _) => "void",
            ('i', _) if cblas => "size_t",
            ('i', _) => "int",
            ('d', _) => "double",
            ('t', 'c') => "calblas_complex_float",
            ('t', 'z') => "calblas_complex_double",
            (_, 's' | 'c') => "float",
            _ => "double",
        }
    }

    fn result_rust(&self, cblas: bool) -> &'static str {
        match self.result_c(cblas) {
            "void" => "()",
            "size_t" => "usize",
            "int" => "c_int",
            "float" => "f32",
            "double" => "f64",
            "calblas_complex_float" => "Complex32",
            _ => "Complex64",
        }
    }

    /// Whether the C function gives its result by address.
    fn by_address(&self) -> bool {
        self.cblas().ends_with("_sub")
    }

    /// Fortran parameters: (name, C type, Rust type).
    fn fortran(&self) -> Vec<(String, String, String)> {
        let of = |a: &Argument| {
            let (c, rust) = match a.role {
                Role::Letter => ("const char*".into(), "*const c_char".into()),
                Role::Integer => ("const int*".into(), "*const c_int".into()),
                Role::Number | Role::Read => {
                    (format!("const {}*", a.c(self.kind)), format!("*const {}", a.rust(self.kind)))
                }
                Role::Written => (format!("{}*", a.c(self.kind)), format!("*mut {}", a.rust(self.kind))),
            };
            (a.name.clone(), c, rust)
        };
        self.arguments.iter().map(of).collect()
    }

    /// C parameters.
    fn c(&self) -> Vec<(String, String, String)> {
        let mut all = Vec::new();
        if self.level > 1 {
            all.push(("layout".into(), "enum CBLAS_ORDER".into(), "c_int".into()));
        }
        for a in &self.arguments {
            let (c, rust) = match a.role {
                Role::Letter => {
                    let name = match &*a.name {
                        "side" => "SIDE",
                        "uplo" => "UPLO",
                        "diag" => "DIAG",
                        _ => "TRANSPOSE",
                    };
                    (format!("enum CBLAS_{name}"), "c_int".into())
                }
                Role::Integer => ("int".into(), "c_int".into()),
                Role::Number if a.is_complex(self.kind) => {
                    ("const void*".into(), format!("*const {}", a.rust(self.kind)))
                }
                Role::Number => (a.c(self.kind).into(), a.rust(self.kind).into()),
                Role::Read => (format!("const {}*", a.c(self.kind)), format!("*const {}", a.rust(self.kind))),
                Role::Written => (format!("{}*", a.c(self.kind)), format!("*mut {}", a.rust(self.kind))),
            };
            all.push((a.name.clone(), c, rust));
        }
        if self.by_address() {
            let rust = if self.kind == 'c' { "*mut Complex32" } else { "*mut Complex64" };
            all.push(("result".into(), "void*".into(), rust.into()));
        }
        all
    }
}

/// Rust text: for each routine of levels 1 and 2 the Fortran and the C function, which call the host's, but for `cabs1`; for those of level 3
/// functions with both signatures that call `level3::NAME::<T>` and `cblas3::NAME::<T>`.
pub fn functions() -> String {
    let mut text = String::new();
    for routine in routines() {
        let fortran = (format!("{}_", routine.name), routine.fortran(), routine.result_rust(false));
        let c_result = if routine.by_address() { "()" } else { routine.result_rust(true) };
        let c = (routine.cblas(), routine.c(), c_result);
        let letters = routine.arguments.iter().filter(|a| a.role == Role::Letter).count();
        for (name, parameters, result) in [&fortran, &c] {
            let arrow = if *result == "()" { String::new() } else { format!(" -> {result}") };
            let is_fortran = name == &fortran.0;
            let declared: Vec<String> =
                parameters.iter().map(|(name, _, rust)| format!("{name}: {rust}")).collect();
            let names: Vec<&str> = parameters.iter().map(|(name, ..)| &**name).collect();
            let _ = writeln!(
                text,
                "#[doc = \"BLAS, level {}.\"]\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {name}({}){arrow} {{",
                routine.level,
                declared.join(", ")
            );
            if routine.level == 3 {
                let (operation, module) = (&routine.name[1..], if is_fortran { "fortran" } else { "cblas" });
                let kind = ["f32", "f64", "Complex32", "Complex64"]["sdcz".find(routine.kind).unwrap_or(0)];
                let _ = writeln!(
                    text,
                    "    // SAFETY: what the caller of BLAS promises is handed on.\n    \
                     unsafe {{ {module}::{operation}::<{kind}>(\"{}\", {}) }}\n}}\n",
                    routine.name,
                    names.join(", ")
                );
                continue;
            }
            if routine.name.ends_with("cabs1") {
                // OpenBLAS has no C function of the name.
                text.push_str(
                    "    // SAFETY: the caller of BLAS gives the address of a number.\n    let x = unsafe { *x };\n    \
                     x.re.abs() + x.im.abs()\n}\n\n",
                );
                continue;
            }
            // gfortran's lengths of letters come last; who does not look for them does not see them.
            let mut types: Vec<&str> = parameters.iter().map(|(_, _, rust)| &**rust).collect();
            let mut values = names.clone();
            if is_fortran {
                types.extend(std::iter::repeat_n("usize", letters));
                values.extend(std::iter::repeat_n("1", letters));
            }
            let _ = writeln!(
                text,
                "    static ROUTINE: Routine = Routine::new(\"{name}\");\n    \
                 // SAFETY: the host's routine of this name takes these arguments.\n    \
                 let routine: unsafe extern \"C\" fn({}){arrow} = unsafe {{ std::mem::transmute(ROUTINE.address()) }};\n    \
                 // SAFETY: what the caller of BLAS promises is handed on.\n    unsafe {{ routine({}) }}\n}}\n",
                types.join(", "),
                values.join(", ")
            );
        }
    }
    text
}

/// The header `calblas.h`.
pub fn header() -> String {
    let mut text = String::from(HEAD);
    for level in 1..=3 {
        let _ = writeln!(text, "\n/* Level {level} */");
        for routine in routines().iter().filter(|r| r.level == level) {
            let line = |name: &str, parameters: &[(String, String, String)], result: &str| {
                let all: Vec<String> = parameters.iter().map(|(name, c, _)| format!("{c} {name}")).collect();
                format!("{result} {name}({});\n", all.join(", "))
            };
            text.push_str(&line(&format!("{}_", routine.name), &routine.fortran(), routine.result_c(false)));
            let result = if routine.by_address() { "void" } else { routine.result_c(true) };
            text.push_str(&line(&routine.cblas(), &routine.c(), result));
        }
    }
    text.push_str(TAIL);
    text
}

const HEAD: &str =
    "/* BLAS by libCALBLAS: the functions of Fortran and of C. Made from blas/abi/routines.txt. */
#ifndef CALBLAS_H
#define CALBLAS_H

#include <stddef.h>

#ifdef __cplusplus
extern \"C\" {
#endif

typedef enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 } CBLAS_ORDER;
typedef enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 } CBLAS_TRANSPOSE;
typedef enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 } CBLAS_UPLO;
typedef enum CBLAS_DIAG { CblasNonUnit = 131, CblasUnit = 132 } CBLAS_DIAG;
typedef enum CBLAS_SIDE { CblasLeft = 141, CblasRight = 142 } CBLAS_SIDE;
typedef CBLAS_ORDER CBLAS_LAYOUT;
#define CBLAS_INDEX size_t

typedef struct { float re, im; } calblas_complex_float;
typedef struct { double re, im; } calblas_complex_double;

/* What wrong arguments lead to. A program may have functions of its own by these names. */
void xerbla_(const char* name, const int* argument, size_t length);
void cblas_xerbla(int argument, const char* name, const char* form, ...);
";

const TAIL: &str = "
#ifdef __cplusplus
}
#endif

#endif
";
