// Sources of one box: the bank and the four optional ones. The options of the box name fakes of them.

import { banguat } from '../../../../src/providers/banguat/banguat.ts'
import { banxico } from '../../../../src/providers/banxico/banxico.ts'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { ecb } from '../../../../src/providers/ecb/ecb.ts'
import type { Provider } from '../../../../src/providers/provider.ts'
import { trm } from '../../../../src/providers/trm/trm.ts'

export const FIVE: readonly Provider[] = [bccr, ecb, banguat, trm, banxico]
