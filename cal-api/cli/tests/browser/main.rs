//! The pages of `recal explore` in a browser.

mod chromium;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use chromium::Browser;
use recal_needs::Need;

/// A loop, an `if` that parts threads, reads; and a comment that would like to be a script.
const KERNEL: &str = "il_ps_2_0\n\
    ; </script><script>window.broken = 1</script><img src=x onerror=window.broken=1>\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    dcl_literal l0, 0, 1, 16, 0\n\
    dcl_literal l1, 0.5, 32.0, 1.0, 0.0\n\
    mov r1.x, l0.x\n\
    whileloop\n\
    ige r1.y, r1.x, l0.z\n\
    break_logicalnz r1.y\n\
    itof r2.x, r1.x\n\
    add r2.xy, vWinCoord0.xy, r2.x\n\
    sample_resource(0)_sampler(0) r3, r2.xyxx\n\
    mad r0, r3, l1.x, r0\n\
    iadd r1.x, r1.x, l0.y\n\
    endloop\n\
    lt r4.x, vWinCoord0.x, l1.y\n\
    if_logicalnz r4.x\n\
    mul r0, r0, r0\n\
    endif\n\
    mov o0, r0\n\
    end\n";

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn recal() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
    command.env("CAL_BACKEND", "cpu");
    command
}

/// The page of a kernel.
fn page(folder: &Path, text: &str, arguments: &[&str]) -> String {
    let (kernel, page) = (folder.join("kernel.il"), folder.join("page.html"));
    std::fs::write(&kernel, text).unwrap();
    let output = recal().arg("explore").arg(&kernel).arg("-o").arg(&page).args(arguments).output().unwrap();
    assert!(page.exists(), "{output:?}");
    format!("file://{}", page.display())
}

/// Lines of a listing that are marked, and have the origin of the chosen one.
fn linked(listing: &str) -> String {
    format!(
        "document.querySelectorAll('#lines-{listing} .line.linked[data-from=\"' + \
         document.querySelector('.line.chosen').dataset.from + '\"]').length"
    )
}

/// Nothing is beyond the sides of the window.
const FITS: &str = "document.documentElement.scrollWidth <= window.innerWidth && document.body.scrollWidth <= window.innerWidth";

fn a_page_links_lines_at_any_width_without_network() {
    let folder = scratch("page");
    let address = page(
        &folder,
        KERNEL,
        &["-b", "i0=64x64:float_4", "-b", "o0=64x64:float_4", "-d", "64x64", "-i", "avx2"],
    );
    let mut browser = Browser::start(&folder.join("profile"));
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")] {
        browser.window(width, 800, scheme);
        browser.open(&address);
        assert_eq!(browser.value(FITS), true, "{width}");
        // By keyboard: from the head of the list to the multiplication of the loop.
        browser.value("document.getElementById('lines-il').focus()");
        for _ in 0..14 {
            browser.press("ArrowDown", 40);
        }
        let chosen = "document.querySelector('#lines-il .line.chosen code').textContent";
        assert_eq!(browser.value(chosen), "mad r0, r3, l1.x, r0");
        for listing in ["after", "spirv", "code"] {
            assert!(browser.value(&linked(listing)).as_u64().unwrap() > 0, "{listing} at {width}");
        }
        let said =
            browser.value("document.getElementById('chosen').textContent").as_str().unwrap().to_owned();
        assert!(said.starts_with("Line 15. ") && said.contains("1024 executions"), "{said}");
        // What is pointed at in another list marks the kernel's line.
        browser.point(
            "[...document.querySelectorAll('#lines-spirv .line')].find((l) => l.dataset.from === '20')",
        );
        browser.until(&format!(
            "document.querySelector('.line.chosen').dataset.from === '20' && {} === 1",
            linked("il")
        ));
        assert_eq!(
            browser.value("document.querySelector('#lines-il .line.linked code').textContent"),
            "mul r0, r0, r0"
        );
        assert!(browser.value("document.querySelectorAll('#chips tbody tr').length").as_u64().unwrap() > 10);
        assert_eq!(browser.value("document.querySelectorAll('#roof-chart circle').length"), 4);
        assert_eq!(browser.value("window.broken === undefined"), true);
        assert_eq!(browser.value(FITS), true, "{width}");
        browser.value("document.querySelector('#lines-il').scrollTop = 0; window.scrollTo(0, 0)");
        let picture = browser.picture(true);
        std::fs::write(folder.join(format!("{width}-{scheme}.png.base64")), picture).unwrap();
        let back = "getComputedStyle(document.body).backgroundColor";
        let before = browser.value(back);
        browser.value("document.getElementById('theme').click()");
        assert_ne!(browser.value(back), before, "{scheme}");
        browser.value("document.getElementById('heat').value = 'divergence'; document.getElementById('heat').dispatchEvent(new Event('change'))");
        // A wave is a line of 64 columns, 32 of which take the if.
        let parted = "document.querySelector('#lines-il .count[data-line=\"19\"]').textContent";
        assert_eq!(browser.value(parted), "64");
        browser.value("document.querySelector('[data-listing=before]').click()");
        assert_eq!(browser.value("document.getElementById('listing-before').hidden"), false);
        assert_eq!(browser.value(FITS), true, "{width}, five listings");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
    let outside: Vec<_> = browser
        .requests
        .iter()
        .filter(|url| !url.starts_with("file:") && !url.starts_with("data:"))
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
}

fn a_wrong_kernel_is_shown_with_what_is_wrong() {
    let folder = scratch("wrong");
    let address = page(&folder, "il_ps_2_0\ndcl_output_generic o0\nmadd o0, r0, r1, r2\nend\n", &[]);
    let mut browser = Browser::start(&folder.join("profile"));
    for width in [1280, 400] {
        browser.window(width, 800, "light");
        browser.open(&address);
        let note = browser.value("document.querySelector('#il-2 + .note.error').textContent");
        assert!(note.as_str().unwrap().starts_with("error: "), "{note}");
        assert_eq!(browser.value("document.getElementById('chips').hidden"), true);
        assert_eq!(browser.value(FITS), true, "{width}");
        std::fs::write(folder.join(format!("{width}.png.base64")), browser.picture(false)).unwrap();
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Ends with the test, however that ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It is gone already, or goes now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn a_served_page_compiles_what_is_typed() {
    let folder = scratch("served");
    let mut server = Server(recal().args(["explore", "--serve"]).stdout(Stdio::piped()).spawn().unwrap());
    let mut address = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let mut browser = Browser::start(&folder.join("profile"));
    browser.window(1280, 800, "light");
    browser.open(address.trim());
    browser.value("document.getElementById('source').focus(); document.getElementById('source').select()");
    let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[1]\nmad o0, cb0[0], cb0[0], cb0[0]\nend\n";
    browser.ask("Input.insertText", serde_json::json!({ "text": text }));
    browser.until("document.getElementById('listing-before').textContent.includes('Mad')");
    assert_eq!(browser.value(FITS), true);
    browser.value("document.getElementById('source').select()");
    browser.ask("Input.insertText", serde_json::json!({ "text": "il_ps_2_0\nfrobnicate r0\nend\n" }));
    browser.until("document.querySelector('.note.error') !== null");
    assert_eq!(browser.complaints, Vec::<String>::new());
    let own =
        |url: &String| url.starts_with(address.trim()) || url.starts_with("data:") || url == "about:blank";
    assert!(browser.requests.iter().all(own), "{:?}", browser.requests);
    std::fs::write(folder.join("served.png.base64"), browser.picture(false)).unwrap();
}

recal_needs::tests!([Need::program("chromium")] =>
    a_page_links_lines_at_any_width_without_network
    a_wrong_kernel_is_shown_with_what_is_wrong
    a_served_page_compiles_what_is_typed);
