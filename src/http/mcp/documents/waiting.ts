// How a client of a tool waits: until it is gone, and only for as long as its token is let in.

import type { Patience } from '../../../domain/documents/queries.ts'
import { accessOf, checkAllowed } from '../../api/auth.ts'
import type { Caller, Need } from '../protocol/tool.ts'

export function patienceOf(caller: Caller, seconds: number, needs: Need): Patience {
  return {
    ms: seconds * 1000,
    watch: caller.watch,
    async checkAgain() {
      const token = await caller.checkAgain()
      checkAllowed(token, needs)
      return accessOf(token)
    },
  }
}
