import { describePanels } from './demo-panels.ts';
import { PHONE } from './demo-visit.ts';

describePanels(PHONE);
