import { meros } from 'meros/browser';
import {
  type GraphQLResponse,
  Observable,
  type RequestParameters,
  type Variables,
} from 'relay-runtime';

type Part = {
  data?: unknown;
  errors?: unknown;
  incremental?: { data: unknown; errors?: unknown; label?: string; path: (string | number)[] }[];
  hasNext?: boolean;
};

const ACCEPT = 'multipart/mixed;deferSpec=20220824, application/json';

/** A query whose deferred fragments come in parts: Relay wants `label` and `path` beside the data of each. */
export function relayFetch(
  url: string,
  headers: Record<string, string>,
  { text: query }: RequestParameters,
  variables: Variables,
): Observable<GraphQLResponse> {
  return Observable.create((sink) => {
    const leaving = new AbortController();
    const give = ({ incremental, hasNext = false, ...whole }: Part) => {
      for (const result of incremental ?? [whole]) {
        sink.next({ ...result, extensions: { is_final: !hasNext } } as GraphQLResponse);
      }
    };
    async function run() {
      const response = await fetch(url, {
        method: 'POST',
        headers: { accept: ACCEPT, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
        signal: leaving.signal,
      });
      const parts = await meros<Part>(response);
      if (parts instanceof Response) give((await parts.json()) as Part);
      else for await (const part of parts) if (part.json) give(part.body);
    }
    run().then(
      () => sink.complete(),
      (error: Error) => sink.error(error),
    );
    return () => leaving.abort();
  });
}
