import { PLACE } from './OrderForm';
import { placeToItsEnd } from './place-to-its-end';
import { client } from './urql';

export const place = (input: { idempotencyKey: string }) =>
  placeToItsEnd(
    async () => (await client.mutation(PLACE, { input })).data?.placeOrder,
    input.idempotencyKey,
  );
