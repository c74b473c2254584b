# Sourced. In $products what cargo builds for libraries and commands, always in one selection: features of what all use are then the
# same, and each crate is built once, whichever library is asked for first. With a $target linear algebra is left out: archives for
# others have none.
products="-p recal-rt -p recal-cli -p recal-brook -p recal-brcc"
[ -n "${target:-}" ] || products="$products -p recal-blas-abi"
