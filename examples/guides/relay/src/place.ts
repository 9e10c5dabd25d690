import { commitMutation } from 'react-relay';
import type { OrderFormMutation } from './__generated__/OrderFormMutation.graphql';
import { PLACE } from './OrderForm';
import { type Outcome, placeToItsEnd } from './place-to-its-end';
import { environment } from './relay';

export const place = (input: OrderFormMutation['variables']['input']) =>
  placeToItsEnd(
    () =>
      new Promise<Outcome | null>((resolve, reject) => {
        const onCompleted = ({ placeOrder }: OrderFormMutation['response']) =>
          resolve(placeOrder ?? null);
        commitMutation<OrderFormMutation>(environment, {
          mutation: PLACE,
          variables: { input },
          onCompleted,
          onError: reject,
        });
      }),
    input.idempotencyKey,
  );
