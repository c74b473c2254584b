// The search: names that begin with what is typed, then names that hold it, then sentences that hold all words of it.
(function () {
    var box = document.getElementById("search"), list = document.getElementById("found"), root = document.body.dataset.root;
    var side = document.querySelector("nav.side details");
    // Where there is room the contents are open; on a narrow screen they are behind a line of their own.
    function fit() { side.open = window.innerWidth > 800; }
    fit();
    window.addEventListener("resize", fit);
    function rank(entry, wanted, words) {
        var name = entry[0].toLowerCase();
        if (name === wanted) return 0;
        if (name.indexOf(wanted) === 0) return 1;
        if (name.indexOf(wanted) > 0) return 2;
        var text = name + " " + entry[3].toLowerCase();
        return words.every(function (word) { return text.indexOf(word) >= 0; }) ? 3 : 9;
    }
    function show() {
        var wanted = box.value.trim().toLowerCase(), words = wanted.split(/\s+/);
        list.textContent = "";
        if (!wanted) return;
        var hits = INDEX.map(function (entry) { return [rank(entry, wanted, words), entry]; })
            .filter(function (hit) { return hit[0] < 9; })
            .sort(function (a, b) { return a[0] - b[0] || a[1][0].length - b[1][0].length || (a[1][0] < b[1][0] ? -1 : 1); });
        hits.slice(0, 12).forEach(function (hit) {
            var item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
            link.href = root + hit[1][2];
            link.textContent = hit[1][0];
            small.textContent = hit[1][1] + ": " + hit[1][3];
            link.appendChild(small);
            item.appendChild(link);
            list.appendChild(item);
        });
        if (!hits.length) list.appendChild(document.createElement("li")).textContent = "nothing is called so";
    }
    box.addEventListener("input", show);
    document.addEventListener("keydown", function (event) {
        var links = Array.prototype.slice.call(list.querySelectorAll("a")), at = links.indexOf(document.activeElement);
        var writing = document.activeElement === box;
        if (event.key === "/" && !writing) { event.preventDefault(); side.open = true; box.focus(); box.select(); }
        else if (event.key === "Escape" && (writing || at >= 0)) { box.value = ""; show(); box.blur(); }
        else if (event.key === "Enter" && writing && links.length) { location.href = links[0].href; }
        else if (event.key === "ArrowDown" && (writing || at >= 0) && links.length) { event.preventDefault(); links[Math.min(at + 1, links.length - 1)].focus(); }
        else if (event.key === "ArrowUp" && at >= 0) { event.preventDefault(); (at ? links[at - 1] : box).focus(); }
    });
})();
