#   lockkeeper - the whole build
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   One file, not recursive; everything that is made lies in $(B). Sources are
#   found by their folder, so a new file needs no line here. `make help` lists
#   the targets. What ./configure found (optional) comes from config.mk.

VERSION = 0.1.0
SOVERSION = 1

-include config.mk

B ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
comma := ,

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
PLUGINDIR ?= $(LIBDIR)/lockkeeper
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/lockkeeper
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions

ifeq ($(origin CC),default)
CC = gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
SEED ?= 1

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings $(if $(DEV),-Werror)
SANITIZE = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer)
STANDARD = -std=gnu11 -D_GNU_SOURCE -DLK_VERSION='"$(VERSION)"'
ALL_CFLAGS = $(STANDARD) -fPIC -fno-semantic-interposition $(WARNINGS) \
	$(CFLAGS) $(SANITIZE)
ALL_LDFLAGS = $(SANITIZE) $(LDFLAGS)

#   Asked once, and only when something is compiled: by then the packages
#   are there.
ask = $(eval $(1) := $$(shell $(PKG_CONFIG) $(2)))$($(1))
DEPS_CFLAGS ?= $(call ask,DEPS_CFLAGS,--cflags jansson libczmq)
DEPS_LIBS ?= $(call ask,DEPS_LIBS,--libs jansson libczmq libzmq)
SMARTCOLS_CFLAGS ?= $(call ask,SMARTCOLS_CFLAGS,--cflags smartcols)
SMARTCOLS_LIBS ?= $(call ask,SMARTCOLS_LIBS,--libs smartcols)
SODIUM_CFLAGS ?= $(call ask,SODIUM_CFLAGS,--cflags libsodium)
SODIUM_LIBS ?= $(call ask,SODIUM_LIBS,--libs libsodium)
LMDB_CFLAGS ?= $(call ask,LMDB_CFLAGS,--cflags lmdb)
LMDB_LIBS ?= $(call ask,LMDB_LIBS,--libs lmdb)
LDAP_CFLAGS ?= $(call ask,LDAP_CFLAGS,--cflags ldap)
LDAP_LIBS ?= $(call ask,LDAP_LIBS,--libs ldap)
CHECK_CFLAGS ?= $(call ask,CHECK_CFLAGS,--cflags check)
CHECK_LIBS ?= $(call ask,CHECK_LIBS,--libs check)

ifdef V
Q =
say = @:
else
Q = @
say = @printf '  %-5s %s\n'
endif

#   ------------------------------------------------------------ sources

lib_src := $(wildcard $(addsuffix /*.c,src/util src/wire src/net src/client \
	src/settings))
cli_src := $(wildcard src/cli/*.c src/cli/*/*.c)
router_src := $(wildcard router/*/*.c)
router_rooms = $(addprefix -Irouter/,tables logic shell)
daemon_src := $(wildcard src/daemon/*.c)
people_src := $(wildcard src/people/*.c)
core = plugins/lock/core
core_src := $(wildcard $(core)/*/*.c)
core_face = -I$(core)/base -I$(core)/node
core_rooms = $(addprefix -I$(core)/,base table leader proxy election node)
lock = plugins/lock
lock_src := $(wildcard $(lock)/*.c $(addsuffix /*.c,$(addprefix $(lock)/,keep out look in)))
lock_rooms = -I$(lock) $(addprefix -I$(lock)/,keep out look in)
greeter_src := $(wildcard plugins/greeter/*.c)
issuer_src := $(wildcard plugins/issuer/*.c)
arbiter_src := $(wildcard arbiter/*.c)
#   Each is a process of its own (main.c) and a plug-in of the router
#   (plugin.c).
process_of = $(filter-out %/plugin.c,$(1))
plugin_of = $(filter-out %/main.c,$(1))
unit_src := $(wildcard tests/unit/*.c)
sim_src := $(wildcard tests/sim/*.c)
fuzz_src := $(wildcard tests/fuzz/*.c)
cluster_src := $(wildcard tests/cluster/*.c)
bench_src := $(wildcard tests/bench/*.c)
testlib_src := $(filter-out tests/lib/replay.c,$(wildcard tests/lib/*.c)) \
	$(wildcard tests/sim/checker*.c)
headers := $(wildcard include/lockkeeper/*.h)
man_pages := $(wildcard man/*.[1-8])
units := $(wildcard systemd/*.service)

obj = $(patsubst %.c,$(B)/%.o,$(1))
bin = $(patsubst %.c,$(B)/%,$(1))

static_lib = $(B)/liblockkeeper.a
shared_lib = $(B)/liblockkeeper.so.$(SOVERSION)
core_lib = $(B)/core.a
lock_lib = $(B)/lock.a
router_lib = $(B)/router.a
daemon_lib = $(B)/daemon.a
people_lib = $(B)/people.a
issuer_lib = $(B)/issuer.a
test_lib = $(B)/test.a

programs := $(addprefix $(B)/,lockkeeper-router lockkeeper-lockd lockkeeper-issuer \
	lockkeeper-arbiter lockkeeper)
plugins := $(B)/lockkeeper-lock.so $(B)/lockkeeper-issuer.so
examples := $(B)/lockkeeper-greeter $(B)/lockkeeper-greeter.so $(call bin,$(wildcard examples/*.c))
libraries := $(static_lib) $(shared_lib)
unit_tests := $(call bin,$(unit_src))
fuzz_tests := $(call bin,$(fuzz_src))
cluster_tests := $(call bin,$(cluster_src))
hooked := $(B)/tests/hooks/lockkeeper-lockd $(B)/tests/hooks/sim
benches := $(call bin,$(bench_src))
peers := $(addprefix $(B)/tests/bench/peers/,lockkeeper etcd zookeeper redis \
	postgresql)
simulator := $(B)/tests/sim/sim
ways := $(B)/tests/sim/ways/ways

#   ------------------------------------------------------------ targets

all: $(libraries) $(programs) $(plugins) $(examples)

tests: all unit-tests $(fuzz_tests) $(cluster_tests) $(hooked) $(simulator) \
	$(ways) $(benches)
unit-tests: $(unit_tests)

help:
	@echo 'make             the libraries and programs, in $(B)/'
	@echo 'make demo        the main job, told step by step'
	@echo 'make check       all tests (about five minutes)'
	@echo 'make check-fast  style and unit tests (under fifteen seconds)'
	@echo 'make check T=cli_see [TIMES=3]   one test (CONTRIBUTING)'
	@echo 'make check-clones [TIMES=10 LOOPS=8]   in fresh clones, in turn'
	@echo 'make check-bare  in a fresh Debian 12, as CI (root)'
	@echo 'make deps        installs the Debian packages that all this needs'
	@echo 'make check-style, check-man, check-commit, format-check, format, tidy'
	@echo 'make sim SEED=n RUNS=m    the simulator'
	@echo 'make sim-long SEED=n STEPS=m   ... for hours'
	@echo 'make ways-long SEED=n S=m   routers and a network that fails'
	@echo 'make sim-coverage        branches of the core that it takes'
	@echo 'make walk                which functions one LOCK enters, and where'
	@echo 'make canaries            the simulator against planted mistakes'
	@echo 'make cluster-long ROUNDS=n  faults of real processes, for longer'
	@echo 'make check-far PAIRS=n   many sessions of other machines, for longer'
	@echo 'make model               SPIN tries the protocol in every order'
	@echo 'make fuzz T=60 [F=core]   each fuzz target for T seconds (clang)'
	@echo 'make fuzz-keep [F=core]   what they found that is new, kept'
	@echo 'make bench               one line per figure, then a table'
	@echo 'make bench-peers         the same loads on other lock services'
	@echo 'make deb         Debian packages, in $(B)/deb'
	@echo 'make check-deb   tries them on three Debians in namespaces (root)'
	@echo 'make install PREFIX=/usr/local DESTDIR=, uninstall, dist, clean'
	@echo 'DEV=1 warnings are errors; SAN=address,undefined; V=1 commands;'
	@echo 'B=DIR build there; NO_DEPS=1 demo and check install no packages'

#   demo and check install what they need first, and build in a second make
#   that finds it.
deps = $(if $(NO_DEPS),true,sh ./install-deps.sh $(1))
jobs := $(shell nproc 2>/dev/null || echo 2)
again = $(MAKE) --no-print-directory \
	$(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(jobs))

deps:
	@$(call deps,check)

#   Debian packages of this tree, in $(B)/deb.
deb:
	@$(call deps,deb)
	@sh debian/build.sh $(VERSION) $(B)/deb

#   Installs, runs, upgrades and purges them on three Debians; as root.
check-deb:
	@$(call deps,check-deb)
	@BUILD=$(abspath $(B)) bash tests/deb/try.sh $(VERSION)

demo:
	@$(call deps,demo)
	@+$(again) all
	@BUILD=$(abspath $(B)) sh examples/demo.sh

#   All tests, or those that T names, TIMES=n times; these install nothing.
run_tests = BUILD=$(abspath $(B)) CC='$(CC)' SANITIZE='$(SANITIZE)' \
	TEST='$(T)' TIMES='$(TIMES)' bash tests/lib/run.sh style unit corpus \
	model simulator python cluster
check:
	@$(if $(T),NAMES_ONLY=1 $(run_tests),$(call deps,check))
	@+$(again) tests
	@$(run_tests)

#   The same as strangers do it: see tests/strangers.
check-clones:
	@$(call deps,check)
	@bash tests/strangers/clones.sh $(or $(TIMES),10) $(or $(LOOPS),0)

check-bare:
	@$(call deps,check-bare)
	@bash tests/strangers/bare.sh

cluster-long: tests
	@BUILD=$(abspath $(B)) ROUNDS=$(or $(ROUNDS),40) \
	bash tests/lib/run.sh cluster_long

#   Machines without a router, in network namespaces, for some minutes.
check-far: tests
	@BUILD=$(abspath $(B)) LK_PAIRS=$(PAIRS) \
	bash tests/cluster/long/far_hosts.sh

check-fast:
	@+$(again) all unit-tests $(hooked)
	@BUILD=$(abspath $(B)) CC='$(CC)' bash tests/lib/run.sh \
	style_fast unit

check-style: all
	@BUILD=$(abspath $(B)) CC='$(CC)' bash tests/lib/run.sh style

#   Those that origin/main has not, or RANGE=a..b.
check-commit:
	@RANGE='$(RANGE)' bash tests/style/commit.sh

check-man: all
	@bash tests/style/man.sh

sim: $(simulator)
	$(simulator) --seed $(SEED) --runs $(or $(RUNS),1)

#   Which branches of the core it takes; see tests/sim/unreached.txt.
coverage = CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage
sim-coverage:
	@$(call deps,check)
	@+$(again) B=$(B)-coverage $(coverage) $(B)-coverage/tests/sim/sim
	@+$(again) B=$(B)-coverage-unit $(coverage) core-tests
	@sh tests/sim/coverage.sh $(B)-coverage $(B)-coverage-unit

core-tests: $(filter $(B)/tests/unit/core_% $(B)/tests/unit/lock_%,$(unit_tests))

#   Goes on from SEED for STEPS steps of the core; ^C ends it with its report.
sim-long: $(simulator)
	$(simulator) --seed $(SEED) --steps $(or $(STEPS),10000000000) \
	--jobs $(jobs) --progress 60 --keep-going

#   Routers, for S seconds of the processor's time, from SEED on.
ways-long: $(ways)
	$(ways) --seed $(SEED) --seconds $(or $(S),3600) --keep-going

#   Which functions one LOCK enters, process by process; TIMES=n walks, and
#   PAGE=man/lockkeeper-internals.7 puts it there.
walk:
	@$(call deps,check)
	@+BUILD=$(abspath $(B)) CC='$(CC)' MAKE='$(MAKE)' PAGE='$(PAGE)' \
	bash tests/walk/walk.sh $(TIMES)

canaries: $(simulator) $(ways)
	@BUILD=$(abspath $(B)) SEEDS_MAX=100000 TABLE=1 \
		sh tests/sim/canaries.sh

model:
	@$(call deps,model)
	@BUILD=$(abspath $(B)) CC='$(CC)' bash tests/model/run.sh

#   Parts, and the seconds that each may take: some nine minutes.
bench_parts = lock:100 hosted:55 curve:60 failover:72 scale:35 costs:18 \
    tables:15 journal:70 far:75 zones:90
bench:
	@$(call deps,bench)
	@+$(again) all $(benches)
	@BUILD=$(abspath $(B)) bash tests/bench/run.sh $(bench_parts)

bench-peers:
	@$(call deps,peers)
	@+$(again) all $(benches) $(peers)
	@BUILD=$(abspath $(B)) bash tests/bench/run.sh peers:840

fuzz fuzz-keep:
	@$(call deps,fuzz)
	@+$(again) B=$(B)-fuzz CC=clang SAN=fuzzer-no-link,address,undefined \
		$@-run

#   All targets, or those that F names.
fuzz_names = $(if $(F),$(F),$(notdir $(fuzz_tests)))
fuzz-run: $(fuzz_tests)
	@BUILD=$(abspath $(B)) bash tests/lib/fuzz.sh run $(or $(T),60) $(fuzz_names)

fuzz-keep-run: $(fuzz_tests)
	@BUILD=$(abspath $(B)) bash tests/lib/fuzz.sh keep $(fuzz_names)

#   ------------------------------------------------------------ rules

#   Objects depend on the flags that made them.
flags_now = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(B)/flags: .FORCE
	@mkdir -p $(B)
	@printf '%s\n' '$(subst ','\'',$(flags_now))' | cmp -s - $@ || \
	printf '%s\n' '$(subst ','\'',$(flags_now))' >$@

#   Who may see which headers; tests/style/layers.sh has the rest.
INC = -Isrc -Iinclude
$(B)/plugins/%.o $(B)/examples/%.o: INC = -Iinclude
$(B)/plugins/issuer/%.o: INC = -Isrc -Iinclude -Iplugins/issuer
$(B)/plugins/issuer/%.o: EXTRA = $(LDAP_CFLAGS)
#   A room of the lock service sees those ahead of it.
$(B)/$(lock)/%.o: INC = -Isrc -Iinclude $(lock_room) $(core_face)
$(B)/$(lock)/%.o: lock_room = $(lock_rooms)
$(B)/$(lock)/keep/%.o: lock_room = -I$(lock)/keep
$(B)/$(lock)/out/%.o: lock_room = $(addprefix -I$(lock)/,keep out)
$(B)/$(lock)/look/%.o: lock_room = $(addprefix -I$(lock)/,keep out look)
$(B)/$(lock)/in/%.o: lock_room = $(addprefix -I$(lock)/,keep out look in)
#   A room of the core sees those below it.
$(B)/$(core)/base/%.o: INC = -Isrc -Iinclude -I$(core)/base
$(B)/$(core)/table/%.o: INC = -Isrc -Iinclude -I$(core)/base -I$(core)/table
$(B)/$(core)/leader/%.o: INC = -Isrc -Iinclude -I$(core)/base -I$(core)/table \
	-I$(core)/leader
$(B)/$(core)/proxy/%.o: INC = -Isrc -Iinclude -I$(core)/base -I$(core)/table \
	-I$(core)/leader -I$(core)/proxy
$(B)/$(core)/election/%.o: INC = -Isrc -Iinclude -I$(core)/base -I$(core)/table \
	-I$(core)/leader -I$(core)/election
$(B)/$(core)/node/%.o: INC = -Isrc -Iinclude $(core_rooms)
#   A room of the router sees what is below it.
$(B)/router/%.o: INC = -Isrc -Iinclude $(room)
$(B)/router/tables/%.o: room = -Irouter/tables
$(B)/router/logic/%.o: room = -Irouter/tables -Irouter/logic
$(B)/router/shell/%.o: room = $(router_rooms)
#   The arbiter has both in it.
$(B)/arbiter/%.o: INC = -Isrc -Iinclude $(router_rooms) $(lock_rooms) $(core_face)
$(B)/tests/%.o: INC = -Isrc -Iinclude $(router_rooms) $(lock_rooms) \
	$(core_rooms) -Iplugins/issuer -Iarbiter -Itests
$(B)/tests/%.o: EXTRA = $(CHECK_CFLAGS)
#   Compiled for longer than they run.
$(B)/tests/unit/%.o $(B)/tests/cluster/%.o: LESS = -O0

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(INC) $(DEPS_CFLAGS) $(EXTRA) $(ALL_CFLAGS) $(LESS) -MMD -MP \
		-c -o $@ $<

define archive
@mkdir -p $(@D)
$(say) AR $@
$(Q)rm -f $@.new
$(Q)$(AR) qcs $@.new $(filter %.o,$^)
$(Q)mv $@.new $@
endef

define link
@mkdir -p $(@D)
$(say) LD $@
$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1) $(DEPS_LIBS) -pthread
endef

$(static_lib): $(call obj,$(lib_src))
	$(archive)
$(core_lib): $(call obj,$(core_src))
	$(archive)
$(lock_lib): $(call obj,$(filter-out %/main.c,$(lock_src)))
	$(archive)
$(router_lib): $(call obj,$(filter-out %/main.c,$(router_src)))
	$(archive)
$(daemon_lib): $(call obj,$(daemon_src))
	$(archive)
$(people_lib): $(call obj,$(people_src))
	$(archive)
$(issuer_lib): $(call obj,$(filter-out %/main.c %/plugin.c,$(issuer_src)))
	$(archive)
$(B)/src/people/%.o $(B)/router/tables/sealed.o: EXTRA = $(SODIUM_CFLAGS)
$(test_lib): $(call obj,$(testlib_src))
	$(archive)

#   The shared library shows what the public headers declare, nothing else.
$(B)/liblockkeeper.map: $(headers)
	@mkdir -p $(@D)
	@{ echo 'LOCKKEEPER_$(SOVERSION) { global:'; \
	sed -n 's/^[a-z].*[ *]\(lk_[a-z0-9_]*\) (.*/    \1;/p' $(headers) | \
	sort -u; echo 'local: *; };'; } >$@

$(shared_lib): $(call obj,$(lib_src)) $(B)/liblockkeeper.map
	$(say) LD $@
	$(Q)$(CC) -shared -Wl,-soname,$(@F) \
	-Wl,--version-script=$(B)/liblockkeeper.map $(ALL_LDFLAGS) -o $@ \
	$(filter %.o,$^) $(DEPS_LIBS) -pthread
	$(Q)ln -sf $(@F) $(B)/liblockkeeper.so

$(B)/lockkeeper: $(call obj,$(cli_src)) $(people_lib) $(static_lib)
	$(call link,$(SMARTCOLS_LIBS) $(SODIUM_LIBS))
$(B)/src/cli/columns.o: EXTRA = $(SMARTCOLS_CFLAGS)
$(B)/lockkeeper-lockd: $(call obj,$(call process_of,$(lock_src)) $(daemon_src)) \
		$(core_lib) $(static_lib)
	$(call link,$(SODIUM_LIBS) $(LMDB_LIBS))
$(B)/plugins/lock/keep/text_hash.o: EXTRA = $(SODIUM_CFLAGS)
$(B)/plugins/lock/keep/journal_file.o: EXTRA = $(LMDB_CFLAGS)
$(B)/lockkeeper-greeter: $(call obj,$(call process_of,$(greeter_src))) \
		$(static_lib)
	$(call link)

$(B)/lockkeeper-issuer: $(call obj,$(call process_of,$(issuer_src))) \
		$(people_lib) $(static_lib)
	$(call link,$(LDAP_LIBS) $(SODIUM_LIBS))

#   Plug-ins find in the router what they need of src/, so that it is there
#   once: it has all of that, and shows it to them. They show one symbol.
$(B)/lockkeeper-router: $(call obj,$(router_src) $(daemon_src) $(people_src) \
		$(filter-out src/client/%,$(lib_src)))
	$(call link,$(SODIUM_LIBS) -Wl$(comma)--export-dynamic-symbol='lk_*' \
		-Wl$(comma)--export-dynamic-symbol=accept4)

#   It has its own accept4, as the router has.
$(B)/lockkeeper-arbiter: $(call obj,$(arbiter_src)) $(lock_lib) $(core_lib) \
		$(router_lib) $(daemon_lib) $(people_lib) $(static_lib)
	$(call link,$(SODIUM_LIBS) $(LMDB_LIBS) -Wl$(comma)-u$(comma)accept4 \
		-Wl$(comma)--export-dynamic-symbol=accept4)

$(B)/plugin.map:
	@mkdir -p $(@D)
	@echo '{ global: lockkeeper_plugin; local: *; };' >$@

define link_plugin
@mkdir -p $(@D)
$(say) LD $@
$(Q)$(CC) -shared -Wl,--version-script=$(B)/plugin.map $(ALL_LDFLAGS) -o $@ \
	$(filter %.o,$^) $(1)
endef

$(B)/lockkeeper-lock.so: $(call obj,$(call plugin_of,$(lock_src)) \
		$(filter-out %_view.c,$(core_src))) $(B)/plugin.map
	$(call link_plugin,$(SODIUM_LIBS) $(LMDB_LIBS))
$(B)/lockkeeper-greeter.so: $(call obj,$(call plugin_of,$(greeter_src))) \
		$(B)/plugin.map
	$(call link_plugin)

$(B)/lockkeeper-issuer.so: $(call obj,$(call plugin_of,$(issuer_src))) \
		$(B)/plugin.map
	$(call link_plugin,-Wl$(comma)-z$(comma)nodelete $(LDAP_LIBS))

#   Where the router looks for them may be told to `make install` alone.
$(B)/plugin.dir: .FORCE
	@mkdir -p $(@D)
	@echo '$(PLUGINDIR)' | cmp -s - $@ || echo '$(PLUGINDIR)' >$@
$(B)/router/shell/plugin.o: $(B)/plugin.dir
$(B)/router/shell/plugin.o: EXTRA = -DLK_PLUGIN_DIR='"$(PLUGINDIR)"'

$(filter $(B)/examples/%,$(examples)): $(B)/%: $(B)/%.o $(static_lib)
	$(call link)

#   A second lock service for tests, with a hook that no other program has.
$(firstword $(hooked)): $(B)/tests/hooks/lockd.o $(B)/tests/lib/corrupt.o \
		$(call obj,$(call process_of,$(lock_src)) $(daemon_src)) $(core_lib) $(static_lib)
	$(call link,-Wl$(comma)--wrap=lk_lockd_from_app $(SODIUM_LIBS) $(LMDB_LIBS))

parts = $(test_lib) $(lock_lib) $(core_lib) $(router_lib) $(daemon_lib) \
	$(issuer_lib) $(people_lib) $(static_lib)

$(filter-out %/growth,$(unit_tests)) $(cluster_tests): $(B)/%: $(B)/%.o $(parts)
	$(call link,$(WRAP) $(CHECK_LIBS) $(SODIUM_LIBS) $(LMDB_LIBS))

#   What must be so between two steps is looked at behind each.
$(B)/tests/unit/core_% $(B)/tests/unit/kinds_%: \
	private WRAP = -Wl,--wrap=lk_node_step

#   One of them has a hash of its own, in which all names are equal.
$(B)/tests/unit/equal_hashes: private WRAP = -Wl,--wrap=lk_hash64

#   These ask authorities.
$(B)/tests/unit/login_% $(B)/tests/cluster/issuer_%: \
	private WRAP = $(LDAP_LIBS)

#   This one includes the file that draws tables.
$(B)/tests/unit/cli_columns: private WRAP = $(SMARTCOLS_LIBS)
$(B)/tests/unit/cli_columns.o: EXTRA = $(CHECK_CFLAGS) $(SMARTCOLS_CFLAGS)

#   One runs out of descriptors, and has the router's accept4 for that.
$(B)/tests/unit/dial: private WRAP = -Wl,-u,accept4

#   One has a boot clock of its own.
$(B)/tests/unit/clock: private WRAP = -Wl,--wrap=clock_gettime \
	-Wl,--wrap=timerfd_create

#   One counts what the core allocates and hashes.
$(B)/tests/unit/core_costs: private WRAP = -Wl,--wrap=lk_alloc \
	-Wl,--wrap=lk_realloc -Wl,--wrap=lk_memdup -Wl,--wrap=lk_hash64

#   One of them counts the steps that the core takes.
counted = $(patsubst %.c,$(B)/counted/%.o,$(core_src) \
	$(wildcard src/util/*.c src/client/book*.c))
$(B)/tests/unit/growth: $(B)/%: $(B)/%.o $(counted) $(parts)
	$(call link,$(CHECK_LIBS) $(SODIUM_LIBS) $(LMDB_LIBS))
$(B)/counted/%.o: INC = -Isrc -Iinclude $(core_rooms)
$(B)/counted/%.o: EXTRA = -fsanitize-coverage=trace-pc
$(B)/counted/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(INC) $(DEPS_CFLAGS) $(EXTRA) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(benches): $(B)/%: $(B)/%.o $(parts)
	$(call link,$(SODIUM_LIBS) $(LMDB_LIBS))

#   Another system's client and the loads. Its library is its own.
peer_dir = $(B)/tests/bench/peers
$(peer_dir)/etcd: $(peer_dir)/grpc.o
$(peer_dir)/zookeeper: private PEER_LIB = -lzookeeper_st
$(peer_dir)/redis: private PEER_LIB = -lhiredis
$(peer_dir)/postgresql: private PEER_LIB = -lpq
$(peer_dir)/postgresql.o: EXTRA = $(shell $(PKG_CONFIG) --cflags libpq)

$(peers): $(B)/%: $(B)/%.o $(peer_dir)/peer.o $(parts)
	$(call link,$(PEER_LIB))

#   The simulator is made of the daemon's and the library's own objects,
#   without sockets. It leaves a list of them for who puts another in.
sim_obj = $(call obj,$(sim_src) $(addprefix tests/lib/,corrupt.c grant_model.c \
	lock_copy.c settings_text.c world.c \
	world_journal.c) $(core_src) \
	$(wildcard src/util/*.c src/wire/*.c) \
	$(addprefix $(lock)/,in/far.c in/requests.c in/request_fields.c in/rights.c \
	keep/apps.c keep/unsent.c out/mask.c out/send.c out/replies.c effects.c) \
	$(wildcard src/client/book*.c) \
	$(addprefix src/client/,letter.c queues.c lease.c \
	roam.c roam_base.c roam_place.c roam_lock.c))
$(simulator): $(sim_obj)
	@mkdir -p $(@D)
	$(say) LD $@
	@echo $^ >$(@D)/objects
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DEPS_LIBS) -lm

#   That of routers, and of the network between them.
$(ways): $(call obj,$(wildcard tests/sim/ways/*.c)) $(router_lib) $(people_lib) \
		$(static_lib)
	$(call link,$(SODIUM_LIBS))

#   A second one, with a hash that most names share.
$(lastword $(hooked)): $(sim_obj) $(B)/tests/hooks/weak_hash.o
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_LDFLAGS) -Wl,--wrap=lk_hash64 -o $@ $^ $(DEPS_LIBS) -lm

#   With clang's libFuzzer a target searches, else it replays its corpus.
ifneq ($(findstring fuzzer,$(SAN)),)
$(fuzz_tests): $(B)/%: $(B)/%.o $(parts)
	$(call link,-fsanitize=fuzzer $(SODIUM_LIBS) $(LMDB_LIBS))
else
$(fuzz_tests): $(B)/%: $(B)/%.o $(B)/tests/lib/replay.o $(parts)
	$(call link,$(SODIUM_LIBS) $(LMDB_LIBS))
endif

#   ------------------------------------------------------------ style

c_files = $(wildcard $(addsuffix /*.[ch],include/lockkeeper src/* src/cli/* router/* \
	arbiter plugins/* $(lock)/* $(core)/* tests/* tests/bench/peers tests/sim/ways \
	examples))
CLANG_FORMAT ?= $(firstword $(shell which clang-format-14 clang-format) \
	clang-format)
CLANG_TIDY ?= $(firstword $(shell which clang-tidy-14 clang-tidy) clang-tidy)

format-check:
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(c_files)

format:
	$(Q)$(CLANG_FORMAT) -i $(c_files)

tidy:
	$(Q)$(CLANG_TIDY) --quiet $(filter %.c,$(filter-out \
	tests/bench/peers/%,$(c_files))) -- $(STANDARD) \
	-Isrc -Iinclude $(router_rooms) $(lock_rooms) $(core_rooms) \
	-Iplugins/issuer -Iarbiter -Itests \
	$(DEPS_CFLAGS) $(SMARTCOLS_CFLAGS)

#   ------------------------------------------------------------ install

installed = $(addprefix $(BINDIR)/,$(notdir $(programs))) \
	$(LIBDIR)/liblockkeeper.a $(LIBDIR)/liblockkeeper.so.$(SOVERSION) \
	$(LIBDIR)/liblockkeeper.so $(LIBDIR)/pkgconfig/lockkeeper.pc \
	$(addprefix $(PLUGINDIR)/,$(notdir $(plugins))) \
	$(addprefix $(INCLUDEDIR)/lockkeeper/,$(notdir $(headers))) \
	$(foreach p,$(man_pages),$(MANDIR)/man$(patsubst .%,%,$(suffix \
	$(p)))/$(notdir $(p))) \
	$(addprefix $(DOCDIR)/,README AUTHORS COPYING CHANGES) \
	$(addprefix $(UNITDIR)/,$(notdir $(units))) \
	$(SYSUSERSDIR)/lockkeeper.conf $(TMPFILESDIR)/lockkeeper.conf \
	$(SYSUSERSDIR)/lockkeeper-arbiter.conf \
	$(BASHDIR)/lockkeeper $(ZSHDIR)/_lockkeeper

install: all
	$(say) TO $(DESTDIR)$(PREFIX)
	$(Q)install -d $(sort $(dir $(addprefix $(DESTDIR),$(installed))))
	$(Q)install $(programs) $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 $(static_lib) $(shared_lib) $(DESTDIR)$(LIBDIR)
	$(Q)install -m 644 $(plugins) $(DESTDIR)$(PLUGINDIR)
	$(Q)ln -sf liblockkeeper.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/liblockkeeper.so
	$(Q)sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(LIBDIR)|' \
	-e 's|@includedir@|$(INCLUDEDIR)|' -e 's|@version@|$(VERSION)|' \
	lockkeeper.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/lockkeeper.pc
	$(Q)install -m 644 $(headers) $(DESTDIR)$(INCLUDEDIR)/lockkeeper
	$(Q)$(foreach p,$(man_pages),install -m 644 $(p) \
	$(DESTDIR)$(MANDIR)/man$(patsubst .%,%,$(suffix $(p)));) true
	$(Q)install -m 644 README AUTHORS COPYING CHANGES $(DESTDIR)$(DOCDIR)
	$(Q)$(foreach u,$(units),sed 's|@bindir@|$(BINDIR)|' $(u) \
	>$(DESTDIR)$(UNITDIR)/$(notdir $(u));) true
	$(Q)install -m 644 systemd/lockkeeper.sysusers \
	$(DESTDIR)$(SYSUSERSDIR)/lockkeeper.conf
	$(Q)install -m 644 systemd/lockkeeper-arbiter.sysusers \
	$(DESTDIR)$(SYSUSERSDIR)/lockkeeper-arbiter.conf
	$(Q)install -m 644 systemd/lockkeeper.tmpfiles \
	$(DESTDIR)$(TMPFILESDIR)/lockkeeper.conf
	$(Q)install -m 644 completions/lockkeeper.bash \
	$(DESTDIR)$(BASHDIR)/lockkeeper
	$(Q)install -m 644 completions/_lockkeeper $(DESTDIR)$(ZSHDIR)

uninstall:
	$(Q)rm -f $(addprefix $(DESTDIR),$(installed))
	$(Q)-rmdir --ignore-fail-on-non-empty $(DESTDIR)$(INCLUDEDIR)/lockkeeper \
	$(DESTDIR)$(PLUGINDIR) \
	$(DESTDIR)$(DOCDIR)

dist:
	@mkdir -p $(B)
	git archive --format=tar.gz --prefix=lockkeeper-$(VERSION)/ \
	-o $(B)/lockkeeper-$(VERSION).tar.gz HEAD

clean:
	rm -rf $(B) $(B)-fuzz $(B)-coverage $(B)-coverage-unit $(B)-walk

.FORCE:
.PHONY: all tests unit-tests core-tests help deps deb check-deb demo check cluster-long check-far \
	check-fast check-style check-man check-commit check-clones check-bare \
	sim sim-coverage sim-long ways-long walk canaries \
	model bench bench-peers fuzz fuzz-run fuzz-keep fuzz-keep-run format-check format \
	tidy install uninstall dist clean .FORCE
.DELETE_ON_ERROR:
.SECONDARY:

-include $(shell find $(B) -name '*.d' 2>/dev/null)
