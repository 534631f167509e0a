// Options of a tool's wait: it ends when the client disconnects, or when its token is no longer valid.

import type { WaitOptions } from '../../../domain/documents/queries.ts'
import { checkAllowed, tokenAccess } from '../../access/auth.ts'
import type { Caller, Need } from '../protocol/tool.ts'

export function createWaitOptions(caller: Caller, seconds: number, needs: Need): WaitOptions {
  return {
    ms: seconds * 1000,
    watch: caller.watch,
    async recheckAccess() {
      const token = await caller.checkAgain()
      checkAllowed(token, needs)
      return tokenAccess(token)
    },
  }
}
