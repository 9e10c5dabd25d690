import { apollo } from './api';
import { PLACE } from './documents';
import type { PlaceMutationVariables } from './gql/graphql';
import { placeToItsEnd } from './place-to-its-end';

export const place = (input: PlaceMutationVariables['input']) =>
  placeToItsEnd(
    async () => (await apollo.mutate({ mutation: PLACE, variables: { input } })).data?.placeOrder,
    input.idempotencyKey,
  );
