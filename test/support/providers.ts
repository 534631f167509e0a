// Providers of tests: the central bank's alone, whatever src/providers/list.ts has, so that a further provider neither changes
// a test nor is called by one.

import { bccr } from '../../src/providers/bccr/bccr.ts'
import type { Provider } from '../../src/providers/provider.ts'

export const TEST_PROVIDERS: readonly Provider[] = [bccr]
