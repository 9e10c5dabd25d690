/** The visible facts of one app's order: its requests, its answer, and its result at the gateway. */
export interface Seen {
  readonly sent: number;
  readonly outcome: string;
  readonly received: number;
  readonly opened: number;
}

/** Says what became of the orders of both apps, by what is seen alone: the gateway may fail at that moment too. */
export function lostVerdict(rest: Seen, graph: Seen): string {
  return `${restWords(rest)}; ${graphWords(graph)}.`;
}

function restWords({ outcome, opened }: Seen): string {
  if (opened === 0) return `REST’s order makes no position: ${outcome}`;
  if (opened === 1) return 'REST’s order makes one position this time';
  return `REST’s repeat makes ${opened} positions of one order`;
}

function graphWords({ outcome, sent, received, opened }: Seen): string {
  if (outcome === 'unsent' && received === 0) {
    return 'the graph’s order is not placed, and the app can say that nothing was bought';
  }
  if (outcome === 'accepted' && opened === 1) {
    const why = sent > 1 ? ': it carries the key of the first request' : '';
    return `the graph’s makes 1${why}`;
  }
  const positions = opened === 1 ? '1 position' : `${opened} positions`;
  return `the graph’s order is ${outcome}, with ${positions}, and may be asked about by its key`;
}
