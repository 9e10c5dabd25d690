import { client } from './client';
import { graphql } from './gql';

export const HOME = graphql(`
  query Home {
    session { id balance equity currency }
    positions { id symbol side units profit }
  }
`);

export const balance = async () => (await client.query(HOME)).data?.session?.balance ?? null;
