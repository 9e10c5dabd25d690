import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { noteRunningTests, type RunningTests } from './running-tests.ts';

// Vitest runs this before each test file.
const running = new Map<string, RunningTests['tests'][number]>();
const note = () => noteRunningTests(expect.getState().testPath ?? '', [...running.values()]);

note();
beforeAll(note);
beforeEach(({ task }) => {
  running.set(task.id, { name: task.name, dueAtMs: Date.now() + task.timeout });
  note();
});
afterEach(({ task }) => {
  running.delete(task.id);
  note();
});
