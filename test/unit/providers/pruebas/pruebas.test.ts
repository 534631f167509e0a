// Contract suite of providers, for one without any similarity to the central bank.

import { testProvider } from '../../../contract/provider.ts'
import { pruebas } from '../../../support/pruebas/pruebas.ts'

const series = '<series code="EUR.USD"/><series code="EUR.JPY"/>'
const window = { from: '2026-03-23', to: '2026-03-24' }

const body = `<?xml version="1.0"?>
<rates>${series}
  <day date="2026-03-23"><rate code="EUR.USD" value="1.08420"/><rate code="EUR.JPY" value="163.00"/></day>
  <day date="2026-03-24"><rate code="EUR.USD" value="1.0851"/></day>
</rates>
`

testProvider('pruebas', {
  provider: pruebas,
  token: 'secret.of-pruebas',
  valid: {
    ask: { table: 'daily', indicator: undefined, window },
    body,
    values: [
      ['EUR.USD', '2026-03-23', '1.0842'],
      ['EUR.JPY', '2026-03-23', '163'],
      ['EUR.USD', '2026-03-24', '1.0851'],
    ],
  },
  empty: {
    ask: { table: 'daily', indicator: undefined, window: { from: '2026-03-21', to: '2026-03-22' } },
    body: `<rates>${series}</rates>`,
  },
  rewrite: ({ value, day }) => body.replace(/(?<=value=")[^"]*/g, value).replace(/(?<=date=")[^"]*/g, day),
  wrong: ['{"rates":[]}', '<quotes><rates></rates></quotes>', 'rates'],
})
