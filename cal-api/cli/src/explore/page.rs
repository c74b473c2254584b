//! JSON to one file of HTML that needs nothing else.

use serde_json::Value;

const TEMPLATE: &str = include_str!("page/template.html");
const STYLE: &str = include_str!("page/style.css");
/// One after another in one script.
const SCRIPTS: [&str; 6] = [
    include_str!("page/element.js"),
    include_str!("page/listing.js"),
    include_str!("page/link.js"),
    include_str!("page/figures.js"),
    include_str!("page/roofline.js"),
    include_str!("page/main.js"),
];

/// The page; `data` may hold any text.
pub(super) fn page(data: &Value) -> String {
    filled(data, "'none'")
}

/// The same that asks the server which it comes from.
pub(super) fn served(data: &Value) -> String {
    filled(data, "'self'")
}

fn filled(data: &Value, connect: &str) -> String {
    let script = SCRIPTS.concat();
    let json = escaped(data);
    let parts = [("@CONNECT@", connect), ("@STYLE@", STYLE), ("@DATA@", &json), ("@SCRIPT@", &script)];
    // In their order, so that nothing that was put in is looked at again.
    let (mut page, mut rest) = (String::new(), TEMPLATE);
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page += before;
        page += part;
        rest = after;
    }
    page + rest
}

/// JSON that ends no element and begins no comment, wherever in a page it stands.
fn escaped(data: &Value) -> String {
    let json = data.to_string();
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_kernel_says_stays_data() {
        let hostile = "; </script><script>alert(1)</script> <!-- @SCRIPT@ & \u{2028}";
        let page = page(&json!({ "text": hostile }));
        // The data and the script: nothing else ends an element of that name, nothing begins a comment.
        assert_eq!(page.matches("</script").count(), 2, "{page}");
        assert!(!page.contains("alert(1)</") && !page.contains("<!--"));
        let data =
            page.split_once("type=\"application/json\">").unwrap().1.split_once("</script>").unwrap().0;
        assert_eq!(serde_json::from_str::<Value>(data).unwrap()["text"], hostile);
    }

    #[test]
    fn the_page_is_whole_and_needs_no_network() {
        let page = page(&json!({}));
        assert!(["@CONNECT@", "@STYLE@", "@DATA@", "@SCRIPT@"].iter().all(|mark| !page.contains(mark)));
        for outside in ["http:", "https:", " src=", "@import", "url("] {
            assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
        }
        assert!(page.contains("connect-src 'none'") && served(&json!({})).contains("connect-src 'self'"));
    }
}
