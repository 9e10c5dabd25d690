const DOCUMENT = 'mutation { bought: newOrderKey closed: newOrderKey refused: newOrderKey }';

/**
 * The examples with keys of orders. If the service gives none, the keys stay empty: the tab Key asks for one.
 *
 * @param {import('./types.d.ts').Post} post
 * @param {readonly import('./examples.d.ts').Example[]} examples
 * @returns {Promise<readonly import('./examples.d.ts').Example[]>}
 */
export async function withOrderKeys(post, examples) {
  const keys = await orderKeys(post);
  return examples.map((example) => {
    const { key, ...others } = example.variables ?? {};
    if (typeof key !== 'string') return example;
    return { ...example, variables: { ...others, key: keys[key] ?? '' } };
  });
}

/**
 * @param {import('./types.d.ts').Post} post
 * @returns {Promise<Readonly<Record<string, string>>>}
 */
async function orderKeys(post) {
  try {
    const body = JSON.stringify({ query: DOCUMENT });
    const response = await post({ 'content-type': 'application/json' }, body);
    return (await response.json()).data ?? {};
  } catch {
    return {};
  }
}
