// Providers of tests: the central bank alone. A further provider in src/providers/list.ts changes no test and is never
// called by one.

import { bccr } from '../../src/providers/bccr/bccr.ts'
import type { Provider } from '../../src/providers/provider.ts'

export const TEST_PROVIDERS: readonly Provider[] = [bccr]
