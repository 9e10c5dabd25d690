import type { OrderProgress, TicketState } from '../client/src/orders/ticket.ts';
import { ERROR_CODES, type ErrorCode } from '../src/lib/error-codes.ts';

/** What an app shows of an order. docs/clients.md says what to do besides. */
const ORDERS: Readonly<Record<OrderProgress | TicketState['status'], string>> = {
  ready: '',
  placing: 'Sending your order …',
  sending: 'Sending your order …',
  asking: 'No answer yet. Asking what became of your order …',
  closing: 'Checking whether your order was placed …',
  accepted: 'Done.',
  rejected: 'Nothing was traded.',
  unsent: 'Not placed. Nothing was bought or sold.',
  unknown: 'We have no confirmation of your order. It may have been carried out.',
};

/** The client's `texts.json`: all texts for users, to translate. */
export function textsFile(): string {
  const errors = Object.entries<ErrorCode>(ERROR_CODES).map(([code, error]) => {
    const { retryable, show, showInstead = {} } = error;
    const others = Object.entries(showInstead).map(([when, text]) => [
      when.replaceAll('`', ''),
      text,
    ]);
    const instead = others.length > 0 && { showInstead: Object.fromEntries(others) };
    return [code, { retryable, show, ...instead }];
  });
  const texts = { errors: Object.fromEntries(errors), orders: ORDERS };
  return `${JSON.stringify(texts, null, 2)}\n`;
}
