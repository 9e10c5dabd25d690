import { gql, InMemoryCache } from '@apollo/client';
import { expect, test } from 'vitest';
import { typePolicies } from '../../src/apollo/type-policies.ts';

const PAGE = gql`
  query Page($after: String) {
    instruments(first: 2, after: $after) { nodes { id } pageInfo { endCursor } }
  }
`;

interface Page {
  readonly instruments: { readonly nodes: readonly { readonly id: string }[] };
}

function page(after: string | undefined, ids: readonly string[]) {
  const nodes = ids.map((id) => ({ __typename: 'Instrument', id }));
  const pageInfo = { __typename: 'PageInfo', endCursor: ids.at(-1) };
  const instruments = { __typename: 'InstrumentConnection', nodes, pageInfo };
  return { query: PAGE, variables: { after }, data: { instruments } };
}

test('a page of instruments is appended only where it follows on the last one', () => {
  const cache = new InMemoryCache({ typePolicies });
  const shown = () => cache.readQuery<Page>({ query: PAGE })?.instruments.nodes.map(({ id }) => id);
  cache.writeQuery(page(undefined, ['a', 'b']));
  cache.writeQuery(page('b', ['c', 'd']));
  expect(shown()).toEqual(['a', 'b', 'c', 'd']);
  cache.writeQuery(page('m', ['n', 'o']));
  expect(shown()).toEqual(['n', 'o']);
  cache.writeQuery(page('o', ['p']));
  expect(shown()).toEqual(['n', 'o', 'p']);
  cache.writeQuery(page(undefined, ['a', 'b']));
  expect(shown()).toEqual(['a', 'b']);
});
