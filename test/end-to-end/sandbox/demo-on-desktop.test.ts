import { describePanels } from './demo-panels.ts';
import { DESKTOP } from './demo-visit.ts';

describePanels(DESKTOP);
