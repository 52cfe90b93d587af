// How search ranks its results (`html_search_scorer` of Sphinx): questions before claims.
// Sphinx gives a term in any title 15 points. There are more than two hundred claims with short titles, so their pages
// would come before the page that answers a question. A title that contains the whole query counts most.
var Scorer = {
  score: (result) => {
    const [docname, , , , score, , kind] = result;
    const ofClaims = docname.startsWith("atlas/") || docname.startsWith("reference/api/");
    return (kind === "title" ? score + 15 : score) * (ofClaims ? 0.2 : 1);
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
