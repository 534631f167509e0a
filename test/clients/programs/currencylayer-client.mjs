// KEY DATE FROM TO: the rate of now and of a day, and a conversion.
import CurrencyLayerClient from 'currencylayer-client'

const [, , apiKey, date, source, to] = process.argv
const client = new CurrencyLayerClient({ apiKey })
const live = await client.live({ currencies: [to], source })
const historical = await client.historical({ date, currencies: [to], source })
const { result } = await client.convert({ from: source, to, amount: 1, date })
process.stdout.write(JSON.stringify([live.quotes[source + to], historical.quotes[source + to], result]))
