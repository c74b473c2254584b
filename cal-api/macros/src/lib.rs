//! AMD IL inside Rust: the macros of the crate `recal`, which documents what they make.
//!
//! ```text
//! tokens ─[parse]→ signature and text ─[recal_il]→ program ─[bind]→ what each parameter is ─[emit]→ a type and a function
//! ```
//!
//! A mistake becomes a `compile_error!` at its place: in a kernel of tokens at the tokens, in one of a literal at the literal, with
//! the line shown.
#![forbid(unsafe_code)]

mod bind;
mod declared;
mod emit;
mod kernel_text;
mod parse;

use proc_macro2::TokenStream;
use syn::parse::Parser;

/// Kernels as typed functions: `recal::il`, which is documented there.
#[proc_macro]
pub fn il(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    all(tokens.into()).into()
}

/// A kernel as a typed function: `recal::kernel`, which is documented there.
#[proc_macro_attribute]
pub fn kernel(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    one(attribute.into(), item.into()).into()
}

fn all(tokens: TokenStream) -> TokenStream {
    match parse::functions.parse2(tokens) {
        Ok(functions) => functions.into_iter().map(function).collect(),
        Err(error) => error.into_compile_error(),
    }
}

fn one(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if !attribute.is_empty() {
        return syn::Error::new_spanned(attribute, "`kernel` takes nothing: the signature says it all")
            .into_compile_error();
    }
    match syn::parse2(item).and_then(parse::Function::of_item) {
        Ok(parsed) => function(parsed),
        Err(error) => error.into_compile_error(),
    }
}

fn function(function: parse::Function) -> TokenStream {
    let expanded = function.text.program().and_then(|program| {
        let bound = bind::bind(&function, &program)?;
        Ok(emit::emit(&function, &program, &bound))
    });
    expanded.unwrap_or_else(syn::Error::into_compile_error)
}
