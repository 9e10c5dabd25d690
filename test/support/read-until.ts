const WITHIN_MS = 50_000;
const SHOWN = 300;

/** Reads a body as text until something is in it, or to its end; what is left of it is cancelled. */
export async function readUntil(
  body: AsyncIterable<Uint8Array> | null,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new Error(`Waited for ${isEnough}, read: …${text.slice(-SHOWN)}`));
  const timer = setTimeout(giveUp, WITHIN_MS);
  const read = async () => {
    for await (const piece of body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (isEnough(text)) break;
    }
    return text;
  };
  try {
    return await Promise.race([read(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
