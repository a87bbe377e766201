# What commands say of a file as a whole: info, verify, recover.
nanoscope info sample.nst
echo '--- gaps'
nanoscope info --gaps sample.nst
nanoscope info --gaps processes.nst
echo '--- json'
nanoscope info --gaps --json sample.nst
echo '--- verify, recover'
head -c 700 sample.nst >cut.nst
nanoscope verify --json sample.nst cut.nst none.nst
echo "status $?"
nanoscope recover --json -o cut.recovered.nst cut.nst
echo "status $?"
nanoscope info cut.recovered.nst
nanoscope verify cut.recovered.nst
