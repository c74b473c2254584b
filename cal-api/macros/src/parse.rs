//! What the macros are given: a signature, and a kernel in one of its forms.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, GenericArgument, ItemFn, Lit, LitStr, Pat, PathArguments, Result,
    Signature, Stmt, Type, Visibility, braced, token,
};

use crate::kernel_text::Text;

/// A kernel and how it is to be called.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) text: Text,
}

/// A parameter of the function.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    /// The symbol that it is said to be, `x @ i0`.
    pub(crate) symbol: Option<Ident>,
    pub(crate) kind: Kind,
    /// The type as it is written.
    pub(crate) written: Type,
}

/// What a parameter is by its type.
pub(crate) enum Kind {
    /// `&Buffer<T>`, `&mut Image<T>`
    Memory(Box<Memory>),
    /// A plain value.
    Value,
}

pub(crate) struct Memory {
    /// `Image` rather than `Buffer`.
    pub(crate) image: bool,
    pub(crate) written: bool,
    pub(crate) element: Type,
}

/// The functions of `il!`.
pub(crate) fn functions(input: ParseStream) -> Result<Vec<Function>> {
    let mut functions = Vec::new();
    while !input.is_empty() {
        functions.push(input.parse()?);
    }
    if functions.is_empty() {
        return Err(Error::new(Span::call_site(), "no kernel: `fn name(parameters) { IL }`"));
    }
    Ok(functions)
}

impl Parse for Function {
    fn parse(input: ParseStream) -> Result<Function> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature: Signature = input.parse()?;
        let text = if input.peek(token::Brace) {
            let body;
            let braces = braced!(body in input);
            let tokens: TokenStream = body.parse()?;
            match syn::parse2::<Expr>(tokens.clone()).ok().and_then(|e| text_of(&e)) {
                Some(text) => text?,
                None => Text::of_tokens(tokens, braces.span.join())?,
            }
        } else {
            let expression: Expr = input.parse()?;
            text_of(&expression).unwrap_or_else(|| Err(not_text(expression.span())))?
        };
        Function::new(attributes, visibility, signature, text)
    }
}

impl Function {
    /// The function under `#[kernel]`.
    pub(crate) fn of_item(item: ItemFn) -> Result<Function> {
        let text = match item.block.stmts.as_slice() {
            [Stmt::Expr(expression, None)] => text_of(expression),
            // `include_str!(…)` alone.
            [Stmt::Macro(statement)] if statement.semi_token.is_none() => included(&statement.mac),
            _ => None,
        };
        let text = text.unwrap_or_else(|| Err(not_text(item.block.span())))?;
        Function::new(item.attrs, item.vis, item.sig, text)
    }

    fn new(
        attributes: Vec<Attribute>,
        visibility: Visibility,
        signature: Signature,
        text: Text,
    ) -> Result<Function> {
        let plain = signature.generics.params.is_empty()
            && signature.constness.is_none()
            && signature.asyncness.is_none()
            && signature.unsafety.is_none()
            && signature.abi.is_none()
            && signature.variadic.is_none();
        if !plain {
            return Err(Error::new_spanned(&signature, "a kernel is a plain `fn` without generics"));
        }
        if !matches!(signature.output, syn::ReturnType::Default) {
            let why = "a kernel returns nothing: what it writes are parameters, `&mut`";
            return Err(Error::new_spanned(&signature.output, why));
        }
        let parameters = signature.inputs.iter().map(parameter).collect::<Result<_>>()?;
        Ok(Function { attributes, visibility, name: signature.ident, parameters, text })
    }
}

fn not_text(span: Span) -> Error {
    Error::new(span, "the body of a kernel is a string that is IL, or `include_str!(\"file.il\")`")
}

/// The text that an expression is; `None` if it is none.
fn text_of(expression: &Expr) -> Option<Result<Text>> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(literal), .. }) => Some(Ok(Text::of_literal(literal))),
        Expr::Macro(expression) => included(&expression.mac),
        _ => None,
    }
}

fn included(call: &syn::Macro) -> Option<Result<Text>> {
    call.path.is_ident("include_str").then(|| Text::of_file(&call.parse_body::<LitStr>()?))
}

fn parameter(argument: &FnArg) -> Result<Parameter> {
    let FnArg::Typed(typed) = argument else {
        return Err(Error::new_spanned(argument, "a kernel has no `self`"));
    };
    let name_of = |pattern: &Pat| match pattern {
        Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() => {
            Some((p.ident.clone(), p.subpat.as_ref().map(|(_, below)| (**below).clone())))
        }
        _ => None,
    };
    let wrong = || Error::new_spanned(&typed.pat, "a parameter is `name: type` or `name @ symbol: type`");
    let (name, below) = name_of(&typed.pat).ok_or_else(wrong)?;
    let symbol = match below {
        None => None,
        Some(pattern) => match name_of(&pattern) {
            Some((symbol, None)) => Some(symbol),
            _ => return Err(wrong()),
        },
    };
    Ok(Parameter { name, symbol, kind: kind(&typed.ty)?, written: (*typed.ty).clone() })
}

fn kind(ty: &Type) -> Result<Kind> {
    let Type::Reference(reference) = ty else {
        return Ok(Kind::Value);
    };
    let wrong =
        || Error::new_spanned(ty, "memory of a kernel is `&Buffer<T>`, `&Image<T>` or `&mut` of them");
    let Type::Path(path) = &*reference.elem else { return Err(wrong()) };
    let last = path.path.segments.last().ok_or_else(wrong)?;
    let image = match last.ident.to_string().as_str() {
        "Buffer" => false,
        "Image" => true,
        _ => return Err(wrong()),
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Err(wrong()) };
    match arguments.args.first() {
        Some(GenericArgument::Type(element)) if arguments.args.len() == 1 => {
            let written = reference.mutability.is_some();
            Ok(Kind::Memory(Box::new(Memory { image, written, element: element.clone() })))
        }
        _ => Err(wrong()),
    }
}
