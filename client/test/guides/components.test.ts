import { test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { launchChromium } from '../../../test/support/launch-chromium.ts';
import { createSampleProject } from '../support/sample-project.ts';

/** Modules that run the guides' samples in a page: the tests' own libraries need Node, or a phone. */
const STAND_INS = {
  'stand-ins/vitest.ts': `
    export const test = (_name: string, run: () => Promise<void>) =>
      Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true, run });
    export const expect = (text: string) => ({
      toContain(part: string) {
        if (!text.includes(part)) throw new Error(text + ' has no ' + part);
      },
      toMatch(form: RegExp) {
        if (!form.test(text)) throw new Error(text + ' is not like ' + form);
      },
    });`,
  'stand-ins/react-native.tsx': `
    export const Text = ({ children }) => <p>{children}</p>;
    export const FlatList = ({ data, keyExtractor, renderItem }) =>
      data.map((item) => <div key={keyExtractor(item)}>{renderItem({ item })}</div>);`,
  'stand-ins/testing-library.ts': `
    import { act } from 'react';
    import { createRoot } from 'react-dom/client';
    export { act };
    const page = document.createElement('main');
    export const render = (shown) => act(async () => createRoot(page).render(shown));
    export const screen = {
      getByText(text) {
        const isIt = ({ textContent }) => (text.test ? text.test(textContent) : text === textContent);
        const found = [...page.querySelectorAll('p')].find(isIt);
        if (found === undefined) throw new Error(page.textContent + ' has no ' + text);
        return found;
      },
    };`,
  'vite.config.ts': `
    const at = (file: string) => new URL('./stand-ins/' + file, import.meta.url).pathname;
    export default {
      resolve: {
        alias: {
          vitest: at('vitest.ts'),
          'react-native': at('react-native.tsx'),
          '@testing-library/react-native': at('testing-library.ts'),
        },
      },
    };`,
};

describeWithChromium('in a page', (executablePath) => {
  test.each([
    ['react', 'Desk'],
    ['react-native', 'Positions'],
    ['apollo', 'Home'],
  ])('the component test of %s.md passes as it is printed', async (guide, component) => {
    await using project = await createSampleProject(`docs/clients/${guide}.md`, {
      ...STAND_INS,
      'entry.ts': `import { test } from './stand-ins/vitest';
        Object.assign(globalThis, { test });
        void import('./src/${component}.test');`,
    });
    await project.generate();
    const script = await project.bundle('entry.ts');
    await using browser = await launchChromium(executablePath);
    const page = await browser.newPage();
    await page.addScriptTag({ content: script });
    await page.waitForFunction(() => 'run' in globalThis);
    await page.evaluate('run()');
  });
});
