// FILE: the days of the daily file, of 90d or of historic.
import { fetch, fetchHistoric, fetchHistoric90d } from 'ecb-euro-exchange-rates'

const days = { daily: async () => [await fetch()], '90d': fetchHistoric90d, historic: fetchHistoric }
process.stdout.write(JSON.stringify(await days[process.argv[2]]()))
