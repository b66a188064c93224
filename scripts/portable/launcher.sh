#!/bin/sh
# Runs the program as PROGRAM, with the Node that is next to it.
# catalogue:this-is-our-cat (the program must not take this file for the system's cat)
self=$0
case $self in */*) ;; *) self=./$self ;; esac
while [ -L "$self" ]; do
  to=$(readlink "$self")
  case $to in /*) self=$to ;; *) self=${self%/*}/$to ;; esac
done
exec "${self%/*}/lib/node" "${self%/*}/lib/bin/PROGRAM.js" "$@"
