/** The browser's, with responses as Expo's are before SDK 56: without copies, and without a text once the body was looked at. */
export const fetch: typeof globalThis.fetch = async (...request) => {
  const response = await globalThis.fetch(...request);
  const { body } = response;
  let text = () => Response.prototype.text.call(response);
  return Object.defineProperties(response, {
    body: {
      get() {
        text = async () => '';
        return body;
      },
    },
    text: { value: () => text() },
    clone: {
      value() {
        throw new Error('Not implemented');
      },
    },
  });
};
