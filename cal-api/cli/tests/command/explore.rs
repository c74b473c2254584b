//! `recal explore`: what its pages show, and what its server refuses.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{KERNEL, json, recal, scratch};

/// Lines of a listing that come from a line of the kernel.
fn from(value: &Value, listing: &str, line: u64) -> Vec<String> {
    let all = value["listings"].as_array().unwrap();
    let of = all.iter().find(|of| of["id"] == listing).unwrap();
    let lines = of["lines"].as_array().unwrap().iter().zip(of["from"].as_array().unwrap());
    lines.filter(|(_, from)| **from == line).map(|(text, _)| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_listing_knows_the_lines_that_it_comes_from() {
    let path = scratch("explore").join("k.il");
    std::fs::write(&path, KERNEL).unwrap();
    let (value, good) = json(&[
        "explore",
        path.to_str().unwrap(),
        "--json",
        "-b",
        "o0=64x2:float32_1",
        "-d",
        "64x2",
        "-i",
        "avx2",
    ]);
    assert!(good && value["accepted"] == true, "{value:#}");
    // The sum of the loop, of which emission knows all rounds, and the one at the end.
    let expected = [
        ("before", 9, "Iadd"),
        ("before", 12, "Add"),
        ("after", 12, "Add"),
        ("spirv", 12, "OpFAdd"),
        ("code", 12, "vadd"),
    ];
    for (listing, line, part) in expected {
        let found = from(&value, listing, line);
        assert!(found.iter().any(|text| text.contains(part)), "{line} in {listing}: {found:?}");
    }
    // Two rounds of the loop, in each of the two waves.
    let counts = value["run"]["lines"].as_array().unwrap();
    let of = |line: u64| counts.iter().find(|one| one["line"] == line).unwrap();
    assert_eq!((&of(9)["executions"], &of(9)["lanes"]), (&4.into(), &256.into()), "{counts:?}");
    assert_eq!((&of(7)["executions"], &of(8)["splits"]), (&6.into(), &0.into()), "{counts:?}");
    assert_eq!(value["chips"].as_array().unwrap().len(), recal_il::vliw::CHIPS.len());
}

/// A wave reads 256 bytes in a row, 1024 bytes of elements, and of a constant place one word; half of it stores.
#[test]
fn counts_have_the_lines_of_memory_and_where_threads_part() {
    let path = scratch("explore-counts").join("k.il");
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 4, 0, 32\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        ishl r0.x, vAbsTidFlat.x, l0.x\nuav_raw_load_id(0) r1.x, r0.x\nuav_raw_load_id(0) r2.x, l0.z\n\
        itof r5.xy, vAbsTid0.xy\nsample_resource(0)_sampler(0) r3, r5.xyxx\nult r4.x, vTidInGrpFlat.x, l0.w\n\
        if_logicalnz r4.x\nuav_raw_store_id(0) mem0.x, r0.x, r3.x\nendif\nend\n";
    std::fs::write(&path, text).unwrap();
    let arguments = ["-b", "uav0=128:unsigned_int32_1", "-b", "i0=128x1:float_4", "-g", "2"];
    let (value, good) = json(&[&["explore", path.to_str().unwrap(), "--json"], &arguments[..]].concat());
    assert!(good && value["run"]["error"].is_null(), "{value:#}");
    let counts = value["run"]["lines"].as_array().unwrap();
    let of = |line: u64| counts.iter().find(|one| one["line"] == line).unwrap();
    let lines = |line: u64| (of(line)["touched"].as_u64().unwrap(), of(line)["new"].as_u64().unwrap());
    assert_eq!([7, 8, 10].map(lines), [(8, 8), (2, 0), (32, 32)], "{counts:#?}");
    assert_eq!(lines(13), (4, 0), "{counts:#?}");
    assert_eq!((&of(12)["splits"], &of(13)["lanes"]), (&2.into(), &64.into()), "{counts:#?}");
    assert_eq!(value["run"]["bytes"], 40 * 64);
}

#[test]
fn a_page_is_written_beside_what_is_said() {
    let folder = scratch("explore-page");
    let (kernel, page) = (folder.join("k.il"), folder.join("k.html"));
    std::fs::write(&kernel, "il_ps_2_0\nfrobnicate r0\nend\n").unwrap();
    let _ = std::fs::remove_file(&page);
    let output = recal(&["explore", kernel.to_str().unwrap(), "-o", page.to_str().unwrap()]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("unknown-opcode"));
    assert!(std::fs::read_to_string(&page).unwrap().contains("unknown-opcode"));
    // A run that is not possible is an error, too, and the page has the rest.
    std::fs::write(&kernel, KERNEL).unwrap();
    let output = recal(&["explore", kernel.to_str().unwrap(), "-o", page.to_str().unwrap(), "-d", "8x8"]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("o0"), "{output:?}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("OpEntryPoint"));
}

#[test]
fn what_is_wrong_is_in_the_status_of_json_too() {
    let kernel = scratch("explore-json").join("k.il");
    let path = kernel.to_str().unwrap();
    std::fs::write(&kernel, "il_ps_2_0\nfrobnicate r0\nend\n").unwrap();
    let (value, good) = json(&["explore", path, "--json"]);
    assert!(
        !good && value["accepted"] == false && value["diagnostics"][0]["rule"] == "unknown-opcode",
        "{value}"
    );
    std::fs::write(&kernel, KERNEL).unwrap();
    let (value, good) = json(&["explore", path, "--json", "-d", "8x8"]);
    assert!(!good && value["run"]["error"].as_str().unwrap().contains("o0"), "{value}");
    // A file beside that is not written would be missed.
    assert!(!recal(&["explore", path, "--json", "-o", "k.html"]).status.success());
}

#[test]
fn the_server_answers_this_machine_with_bounds() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
    command.env("CAL_BACKEND", "cpu").args(["explore", "--serve"]).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let host = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let ask = |head: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(&host).unwrap();
        let head = format!("{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        // Who refuses a body does not read all of it.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let get = ask(&format!("GET / HTTP/1.1\r\nHost: {host}"), b"");
    assert!(get.starts_with("HTTP/1.1 200") && get.contains("connect-src 'self'"), "{get}");
    let post = |headers: &str, body: &[u8]| ask(&format!("POST /compile HTTP/1.1\r\n{headers}"), body);
    let own = format!("Host: {host}\r\nOrigin: http://{host}");
    let answer = post(&own, b"il_ps_2_0\nfrobnicate r0\nend\n");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("unknown-opcode"), "{answer}");
    let elsewhere = format!("Host: {host}\r\nOrigin: http://elsewhere.example");
    for headers in ["Host: elsewhere.example", elsewhere.as_str()] {
        assert!(post(headers, b"x").starts_with("HTTP/1.1 403"), "{headers}");
    }
    assert!(post(&own, &vec![b' '; (256 << 10) + 1]).starts_with("HTTP/1.1 413"));
    assert!(ask(&format!("GET /etc/passwd HTTP/1.1\r\nHost: {host}"), b"").starts_with("HTTP/1.1 404"));
    server.kill().unwrap();
    server.wait().unwrap();
}
