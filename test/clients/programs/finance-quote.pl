# MODULE FROM TO KEY: what Finance::Quote says one unit is worth.
use strict;
use warnings;
use Finance::Quote;
use JSON;

my ($module, $from, $to, $key) = @ARGV;
my $quoter = Finance::Quote->new(
    currency_rates => { order => [$module], lc $module => { API_KEY => $key } },
);
print encode_json([$quoter->currency("1 $from", $to) + 0]);
