// BASE_URL KEY FROM TO: the rate.
import fixer from 'fixer-api'

const [, , baseUrl, accessKey, base, to] = process.argv
fixer.set({ baseUrl, accessKey })
const { rates } = await fixer.latest({ base, symbols: [to] })
process.stdout.write(JSON.stringify(rates[to]))
