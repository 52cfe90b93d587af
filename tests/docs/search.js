// Search a built documentation as its page does: node search.js HTML QUERY... prints the documents of each query, best first.
const fs = require("fs"), path = require("path"), vm = require("vm");

const [folder, ...queries] = process.argv.slice(2);
const element = { addEventListener() {}, dataset: {}, firstChild: null, querySelectorAll: () => [] };
const context = vm.createContext({
  document: { addEventListener() {}, getElementById: () => null, documentElement: element, readyState: "loading" },
  localStorage: { setItem() {} }, SPHINX_HIGHLIGHT_ENABLED: false, URLSearchParams, console,
  DOCUMENTATION_OPTIONS: {}, Documentation: {}, _: (text) => text, _ready() {},
});
const load = (name) => vm.runInContext(fs.readFileSync(path.resolve(folder, name), "utf8"), context);
context.window = context;
load("_static/language_data.js");
if (process.env.SCORER) load(process.env.SCORER);
load("_static/searchtools.js");
load("searchindex.js");
context.queries = queries;
const found = vm.runInContext("queries.map((query) => Search._performSearch(...Search._parseQuery(query)))", context);
// the page shows the last result first
console.log(JSON.stringify(found.map((results) => results.map((result) => [result[0], result[1], result[4]]).reverse())));
