// compra and venta, and what one euro and one colón are worth.
import ColonesExchangeRate from '@dsanchezcr/colonesexchangerate'

const client = new ColonesExchangeRate()
const { date, sale, purchase } = await client.getDollarExchangeRate()
const dollar = await client.dollarsToColones(1)
const euro = await client.eurosToDollars(1)
process.stdout.write(JSON.stringify({ date, sale, purchase, dollar, euro }))
