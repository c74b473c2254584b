//! `recal lsp`: what an editor asks about a kernel, over standard input and output, in the Language Server Protocol.

mod answers;
mod place;

use std::collections::HashMap;
use std::error::Error;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{Completion, Formatting, GotoDefinition, HoverRequest, Request as _};
use lsp_types::{
    CompletionOptions, HoverProviderCapability, OneOf, PublishDiagnosticsParams, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Outcome;

/// Open documents by their address.
type Documents = HashMap<String, String>;

/// Serves until the editor says goodbye.
pub(crate) fn serve() -> Outcome {
    let (connection, threads) = Connection::stdio();
    let capabilities = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["_".into()]),
            ..CompletionOptions::default()
        }),
        ..ServerCapabilities::default()
    };
    connection.initialize(serde_json::to_value(capabilities)?)?;
    converse(&connection)?;
    // The writer ends with the last sender.
    drop(connection);
    threads.join()?;
    Ok(())
}

fn converse(connection: &Connection) -> Outcome {
    let mut documents = Documents::new();
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                connection.sender.send(Message::Response(answer(&documents, request)))?;
            }
            Message::Notification(notification) => {
                if let Some(uri) = notice(&mut documents, notification)? {
                    publish(connection, &documents, uri)?;
                }
            }
            Message::Response(_) => {}
        }
    }
    Ok(())
}

/// Answers a request by the function for its parameters.
fn reply<P: DeserializeOwned, R: Serialize>(request: Request, answer: impl Fn(P) -> R) -> Response {
    let (id, parameters) = (request.id, request.params);
    match serde_json::from_value(parameters) {
        Ok(parameters) => Response::new_ok(id, answer(parameters)),
        Err(e) => Response::new_err(id, ErrorCode::InvalidParams as i32, e.to_string()),
    }
}

fn answer(documents: &Documents, request: Request) -> Response {
    let text = |uri: &Uri| documents.get(uri.as_str()).map_or("", String::as_str);
    match request.method.as_str() {
        HoverRequest::METHOD => reply(request, |p: lsp_types::HoverParams| {
            let at = p.text_document_position_params;
            answers::hover(text(&at.text_document.uri), at.position)
        }),
        Completion::METHOD => reply(request, |p: lsp_types::CompletionParams| {
            let at = p.text_document_position;
            answers::completion(text(&at.text_document.uri), at.position)
        }),
        GotoDefinition::METHOD => reply(request, |p: lsp_types::GotoDefinitionParams| {
            let at = p.text_document_position_params;
            answers::definition(&at.text_document.uri, text(&at.text_document.uri), at.position)
        }),
        Formatting::METHOD => reply(request, |p: lsp_types::DocumentFormattingParams| {
            answers::formatting(text(&p.text_document.uri))
        }),
        other => {
            let unknown = format!("{other} is not answered here");
            Response::new_err(request.id, ErrorCode::MethodNotFound as i32, unknown)
        }
    }
}

/// Takes a change of a document; its address, if something is to be said about it.
fn notice(documents: &mut Documents, notification: Notification) -> Result<Option<Uri>, Box<dyn Error>> {
    let uri = match notification.method.as_str() {
        DidOpenTextDocument::METHOD => {
            let p: lsp_types::DidOpenTextDocumentParams = serde_json::from_value(notification.params)?;
            documents.insert(p.text_document.uri.as_str().into(), p.text_document.text);
            p.text_document.uri
        }
        DidChangeTextDocument::METHOD => {
            let p: lsp_types::DidChangeTextDocumentParams = serde_json::from_value(notification.params)?;
            // Changes are whole texts, as was agreed.
            let Some(change) = p.content_changes.into_iter().next_back() else { return Ok(None) };
            documents.insert(p.text_document.uri.as_str().into(), change.text);
            p.text_document.uri
        }
        DidCloseTextDocument::METHOD => {
            let p: lsp_types::DidCloseTextDocumentParams = serde_json::from_value(notification.params)?;
            documents.remove(p.text_document.uri.as_str());
            p.text_document.uri
        }
        _ => return Ok(None),
    };
    Ok(Some(uri))
}

/// Tells what the compiler says about a document; nothing, once it is closed.
fn publish(connection: &Connection, documents: &Documents, uri: Uri) -> Outcome {
    let text = documents.get(uri.as_str());
    let diagnostics = text.map(|text| answers::diagnostics(&uri, text)).unwrap_or_default();
    let parameters = PublishDiagnosticsParams { uri, diagnostics, version: None };
    let message = Notification::new(PublishDiagnostics::METHOD.into(), parameters);
    Ok(connection.sender.send(Message::Notification(message))?)
}
