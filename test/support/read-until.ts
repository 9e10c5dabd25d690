import { WITHIN_MS, within } from './eventually.ts';

const SHOWN_CHARACTERS = 300;

/** Reads a body as text until it is enough, or to its end, and cancels the rest. */
export async function readUntil(
  body: AsyncIterable<Uint8Array> | null,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const read = async () => {
    for await (const piece of body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (isEnough(text)) break;
    }
    return text;
  };
  const late = () => new Error(`Waited for ${isEnough}, read: …${text.slice(-SHOWN_CHARACTERS)}`);
  return within(WITHIN_MS, read, late);
}
