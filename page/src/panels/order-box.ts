import type { ResumedOutcome } from '../../../client/src/orders/resumed-order.ts';
import type { OrderProgress } from '../../../client/src/orders/ticket.ts';
import { announce } from '../announce.ts';
import { find, h, setText } from '../dom.ts';
import { onClick } from '../on-click.ts';

type Status = ResumedOutcome['status'] | 'none' | 'pending' | 'killed';
export type Details = readonly (readonly [name: string, value: string])[];

export interface Shown {
  readonly status: Status;
  readonly title: string;
  readonly details: Details;
  readonly advice: string;
  /** Asks once more what became of an order whose outcome is open. */
  readonly ask?: () => Promise<Shown>;
}

const WORDS: Readonly<Record<Status, readonly [title: string, advice: string]>> = {
  none: ['No order yet', 'Choose how the gateway answers, and place one.'],
  pending: [
    'On its way',
    'The key is stored. Whatever happens to this page, the order is sent once.',
  ],
  killed: [
    'The app is dead',
    'All that is left of it is the key in its storage. The order goes on at the server.',
  ],
  accepted: ['Accepted', 'The position is in the live list above.'],
  rejected: ['Rejected', 'Nothing was traded. The form may be corrected and sent with a new key.'],
  unknown: [
    'Unknown',
    'No clear answer came, so nobody can say yet whether it was traded. The same key never trades twice: ask again, and look at the live list.',
  ],
  unsent: [
    'Not placed',
    'Nothing was traded, and nothing of it comes later. Another tap is another order.',
  ],
  notFound: [
    'Not arrived',
    'The server has no record of the key. Its order may arrive until its time is over; then the key is closed.',
  ],
  unanswered: ['Not known yet', 'The server could not be asked.'],
};

/** The words for what the client does meanwhile. */
const STEPS: Readonly<Record<OrderProgress, string>> = {
  sending: 'On its way',
  asking: 'No answer yet: asking what became of it',
  closing: 'No answer yet: closing its key, so that it is not sent again',
};

/** Shows one order of the box, for as long as that is the latest one of the user who placed it. */
export interface Turn {
  step(progress: OrderProgress): void;
  show(shown: Shown): void;
}

/** Shows the outcome of the order that was placed last. */
export class OrderBox {
  #turn = 0;
  #shown: Shown = wordsOf('none');

  constructor() {
    onClick(find('order-again', HTMLButtonElement), () => this.#askAgain());
  }

  /** Brings it into the window, as far as it is not there. */
  reveal(): void {
    find('order-outcome', HTMLElement).scrollIntoView({ block: 'nearest' });
  }

  /** A later word about an earlier order is not shown any more. */
  begin(shown: Shown): Turn {
    const own = this.#next(shown);
    return {
      step: (progress) => {
        if (this.#turn === own && this.#shown.status === 'pending') {
          setText(find('order-title', HTMLElement), STEPS[progress]);
        }
      },
      show: (later) => {
        if (this.#turn === own) this.#show(later);
      },
    };
  }

  /** Ends what another user was shown. */
  clear(): void {
    this.#next(wordsOf('none'));
  }

  /** Asks without a word whether more has become known, as when a position has come. */
  async look(): Promise<void> {
    const own = this.#turn;
    const before = this.#shown;
    const later = await before.ask?.();
    if (!later || this.#turn !== own || this.#shown !== before) return;
    if (later.status !== before.status) this.#show(later);
  }

  #next(shown: Shown): number {
    this.#turn += 1;
    this.#show(shown);
    return this.#turn;
  }

  async #askAgain(): Promise<void> {
    const { ask, details } = this.#shown;
    if (ask === undefined) return;
    const turn = this.begin({ ...wordsOf('pending'), title: STEPS.asking, details });
    turn.show(await ask());
  }

  #show(shown: Shown): void {
    this.#shown = shown;
    const { status, title, details, advice, ask } = shown;
    find('order-outcome', HTMLElement).dataset.status = status;
    setText(find('order-title', HTMLElement), title);
    setText(find('order-advice', HTMLElement), advice);
    find('order-details', HTMLElement).replaceChildren(
      ...details.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
    );
    find('order-actions', HTMLElement).hidden = ask === undefined;
    if (status !== 'none') announce(`Order: ${title}. ${advice}`);
  }
}

export function wordsOf(status: Status): Shown {
  const [title, advice] = WORDS[status];
  return { status, title, advice, details: [] };
}

export function detailsOf(outcome: ResumedOutcome): Details {
  switch (outcome.status) {
    case 'accepted':
      return [['Order', outcome.orderId ?? '–'], ...saidOf(outcome.message)];
    case 'rejected':
      return [['Reason', outcome.error ?? '–'], ...saidOf(outcome.message)];
    case 'unknown':
      return [['Sent at', outcome.sentAt]];
    case 'notFound':
      return [];
    default:
      return [['Reason', outcome.error.message]];
  }
}

function saidOf(message: string | null): Details {
  return message ? [['The gateway says', message]] : [];
}
