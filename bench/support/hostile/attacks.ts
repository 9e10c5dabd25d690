import { setTimeout as delay } from 'node:timers/promises';
import { ASSAULTS, ReplyTally } from './assaults.ts';
import type { Account } from './hostile-client.ts';
import { KNOWN_DOCUMENTS, type KnownDocument } from './known-documents.ts';

export interface Attack {
  readonly name: string;
  /** Goes on for so long; answers with what came of it. */
  begin(account: Account, ms: number): Promise<string>;
}

export const NOBODY: Attack = {
  name: 'nobody',
  begin: (_account, ms) => delay(ms, 'none'),
};

export function documentAttacks(): Attack[] {
  return KNOWN_DOCUMENTS.map((document) => ({
    name: document.name,
    async begin(account, ms) {
      const signal = AbortSignal.timeout(ms);
      const replies = new ReplyTally();
      const write = writerOf(document);
      await ASSAULTS[document.kind]({ account, write, signal, replies });
      return String(replies);
    },
  }));
}

let written = 0;

/** Writes the document under another name each time, so that no cache serves it again. */
export function writerOf({ text, variables }: Pick<KnownDocument, 'text' | 'variables'>) {
  return () => {
    written += 1;
    return { text: text.replace(/ Q\b/, ` K${written}`), variables };
  };
}
