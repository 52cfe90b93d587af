// How search ranks its results (`html_search_scorer` of Sphinx): pages that answer a question come before lists and claims.
// Sphinx gives a term in any title 15 points. There are more than two hundred claims with short titles, so their pages
// would come before the page that answers a question, and long pages that contain every word, such as the list of
// commands, would come before short ones. A title that contains the whole query counts most.
var Scorer = {
  // how much a page counts, by the beginning of its name: the first that fits
  weights: [
    ["atlas/", 0.2],
    ["reference/api/", 0.2],
    ["developer/", 0.4],
    ["reference/schemas", 0.4],
    ["reference/commands", 0.7],
    ["gallery/", 0.7],
    ["how-to/index", 0.5],
    ["tutorials/index", 0.5],
    ["explanation/index", 0.5],
    ["how-to/", 1.3],
    ["tutorials/", 1.2],
    ["explanation/", 1.1],
  ],
  score: (result) => {
    const [docname, , , , score, , kind] = result;
    const [, weight] = Scorer.weights.find(([start]) => docname.startsWith(start)) || ["", 1];
    return (kind === "title" ? score + 15 : score) * weight;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
