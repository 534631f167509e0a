// Every source of rates that the program knows. A further one is a file beside bccr.ts and a line here.

import { bccr } from './bccr/bccr.ts'
import type { Provider } from './provider.ts'

export const PROVIDERS: readonly Provider[] = [bccr]
