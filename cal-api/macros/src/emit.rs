//! The type and the function of a kernel.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use recal_il::ir::{Program, Stage};
use syn::spanned::Spanned;

use crate::bind::Bound;
use crate::declared::Symbol;
use crate::parse::{Function, Kind};

/// The items that stand for the kernel.
pub(crate) fn emit(function: &Function, program: &Program, bound: &[Bound]) -> TokenStream {
    let Function { attributes, visibility, name, parameters, text } = function;
    let il = text.tokens();
    // Names that no parameter's can be.
    let over = Ident::new("work", Span::mixed_site());
    let (work, from, wanted) = match program.stage {
        Stage::Pixel => (quote!(Domain), quote!(::recal::Domain), "`(width, height)`"),
        Stage::Compute => (quote!(Threads), quote!(::recal::typed::Threads), "a number or `(x, y, z)`"),
    };
    let names: Vec<_> = parameters.iter().map(|p| &p.name).collect();
    let types: Vec<_> = parameters.iter().map(|p| &p.written).collect();
    let mut memory = Vec::new();
    let mut rows: Vec<(u32, Vec<TokenStream>)> = Vec::new();
    let mut asked = TokenStream::new();
    let mut first = None;
    for (parameter, bound) in parameters.iter().zip(bound) {
        let name = &parameter.name;
        match bound {
            Bound::Memory { slot, asks } => {
                let symbol = symbol(slot.symbol);
                let written = slot.written;
                memory.push(quote!((#symbol, &*#name, #written)));
                if written && first.is_none() {
                    first = Some(name);
                }
                if let (Some(integers), Kind::Memory(memory)) = (asks, &parameter.kind) {
                    let element = &memory.element;
                    let what = if *integers { "integers" } else { "floats" };
                    let why = format!("`{}` is declared as {what} (`_fmtx`)", slot.symbol);
                    asked.extend(quote_spanned! {element.span()=>
                        const _: () = ::core::assert!(::recal::typed::fits::<#element>(#integers), #why);
                    });
                }
            }
            Bound::Row { buffer } => {
                let at = rows.iter().position(|(n, _)| n == buffer).unwrap_or_else(|| {
                    rows.push((*buffer, Vec::new()));
                    rows.len() - 1
                });
                rows[at].1.push(quote!(&#name));
            }
        }
    }
    let rows = rows.iter().map(|(buffer, rows)| {
        let buffer = Literal::u32_unsuffixed(*buffer);
        quote!((#buffer, &[#(#rows),*]))
    });
    let run_says = format!("Appends a launch; the work is {wanted}. The event need not be waited for.");
    // Who documents it does so at the signature.
    let documented = attributes.iter().any(|attribute| attribute.path().is_ident("doc"));
    let says = (!documented).then(|| {
        let says = format!("The kernel `{name}`, loaded into a context.");
        quote!(#[doc = #says])
    });
    let loads = format!("Compiles `{name}` for the context's device and loads it.");
    let fill = first.map(|first| {
        let says = format!("As `run`, with work for each element of `{first}`.");
        quote! {
            #[doc = #says]
            #[allow(dead_code, clippy::too_many_arguments)]
            pub fn fill(&self, #(#names: #types),*) -> ::recal::Result<::recal::Event> {
                let #over = self.kernel.over(&*#first);
                self.start(#over, #(#names),*)
            }
        }
    });
    quote! {
        #asked

        #(#attributes)*
        #says
        #[allow(non_camel_case_types)]
        #[derive(Debug)]
        #visibility struct #name {
            kernel: ::recal::typed::Kernel,
        }

        #[doc = #loads]
        #visibility fn #name(context: &::recal::Context) -> ::recal::Result<#name> {
            let kernel = ::recal::typed::Kernel::load(context, #name::IL)?;
            ::core::result::Result::Ok(#name { kernel })
        }

        impl #name {
            /// The kernel's text.
            #[allow(dead_code)]
            pub const IL: &'static str = #il;

            #[doc = #run_says]
            #[allow(dead_code, clippy::too_many_arguments)]
            pub fn run(
                &self,
                #over: impl ::core::convert::Into<#from>,
                #(#names: #types),*
            ) -> ::recal::Result<::recal::Event> {
                self.start(::recal::typed::Work::#work(#over.into()), #(#names),*)
            }

            #fill

            #[allow(clippy::too_many_arguments)]
            fn start(
                &self,
                #over: ::recal::typed::Work,
                #(#names: #types),*
            ) -> ::recal::Result<::recal::Event> {
                self.kernel.launch(#over, &[#(#memory),*], &[#(#rows),*])
            }
        }

        impl ::core::ops::Deref for #name {
            type Target = ::recal::typed::Kernel;

            fn deref(&self) -> &::recal::typed::Kernel {
                &self.kernel
            }
        }
    }
}

fn symbol(symbol: Symbol) -> TokenStream {
    match symbol {
        Symbol::Input(n) => quote!(::recal::Symbol::Input(#n)),
        Symbol::Constant(n) => quote!(::recal::Symbol::Constant(#n)),
        Symbol::Output(n) => quote!(::recal::Symbol::Output(#n)),
        Symbol::Uav(n) => quote!(::recal::Symbol::Uav(#n)),
        Symbol::Global => quote!(::recal::Symbol::Global),
    }
}
