#   issuer_slapd.py - an LDAP server with certificates, of the test alone
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
"""For issuer_ldap.py: OpenLDAP's slapd in the folder of the test, on ports that
nobody had."""

import os
import shutil
import socket
import subprocess

from issuer_fake import ENDS, HANG_S, await_, free_port, path, run, write

SLAPD = shutil.which("slapd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
BASE = "dc=test"
ROOT = "cn=root," + BASE

CONFIG = """include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {dir}/pid
TLSCACertificateFile {certificates}/ca.pem
TLSCertificateFile {certificates}/server.pem
TLSCertificateKeyFile {certificates}/server.key
database mdb
suffix "{base}"
rootdn "{root}"
rootpw root-secret
directory {dir}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=search,{base}" read by anonymous auth by * none
"""

HEAD = """dn: {base}
objectClass: dcObject
objectClass: organization
o: test
dc: test

dn: ou=people,{base}
objectClass: organizationalUnit
ou: people

dn: ou=others,ou=people,{base}
objectClass: organizationalUnit
ou: others

dn: ou=groups,{base}
objectClass: organizationalUnit
ou: groups

dn: cn=search,{base}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: search
userPassword: search-secret

"""


def person(name, where="ou=people", uid=None):
    """An entry; its password is its name's."""
    uid = uid or name
    return (f"dn: cn={name},{where},{BASE}\nobjectClass: inetOrgPerson\n"
            f"cn: {name}\nsn: {name}\nuid: {uid}\n"
            f"userPassword: {name}-secret\n\n")


def group(name, *members):
    """An entry; a group is never empty."""
    lines = "".join(f"member: cn={one},ou=people,{BASE}\n"
                    for one in members or ("nobody",))
    return (f"dn: cn={name},ou=groups,{BASE}\nobjectClass: groupOfNames\n"
            f"cn: {name}\n{lines}\n")


def certify(folder, names="IP:127.0.0.1,DNS:localhost"):
    """A new authority of certificates, and a server's."""
    os.makedirs(path(folder))
    ends = {"cwd": path(folder)}
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
           "-nodes"]
    run("openssl", "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem",
        "-subj", f"/CN={folder} ca", "-days", "2", **ends)
    run("openssl", "req", *key, "-keyout", "server.key", "-out", "server.csr",
        "-subj", "/CN=127.0.0.1", **ends)
    write(f"{folder}/ext", f"subjectAltName={names}\n")
    run("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem",
        "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "ext",
        "-out", "server.pem", **ends)


class Slapd:
    """One server; it may be stopped and started again, on the same ports."""

    def __init__(self, entries, certificates):
        os.makedirs(path("slapd/data"))
        self.config = write("slapd/conf", CONFIG.format(
            dir=path("slapd"), certificates=path(certificates), base=BASE,
            root=ROOT))
        write("slapd/ldif", HEAD.format(base=BASE) + entries)
        run(SLAPD, "-T", "add", "-f", self.config, "-l", path("slapd/ldif"))
        self.process = None
        self.start_somewhere()
        ENDS.append(self.stop)

    def start_somewhere(self):
        """Another may have taken the port meanwhile: then on the next one."""
        for _ in range(5):
            self.plain, self.encrypted = free_port(), free_port()
            if self.start():
                return
        raise RuntimeError("slapd does not start")

    def start(self):
        """Whether it listens."""
        urls = (f"ldap://127.0.0.1:{self.plain} "
                f"ldaps://127.0.0.1:{self.encrypted}")
        with open(path("slapd/log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [SLAPD, "-d", "0", "-f", self.config, "-h", urls], stdout=log,
                stderr=log)
        return await_(lambda: self.process.poll() is not None
                      or self.listens(), HANG_S) and self.process.poll() is None

    def listens(self):
        """On both ports."""
        for port in self.plain, self.encrypted:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) != 0:
                    return False
        return True

    def stop(self):
        """It is gone, and lets go of its ports."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(HANG_S)

    def change(self, program, *more, text=None):
        """By ldapmodify or ldapdelete, as its root."""
        run(program, "-x", "-H", f"ldap://127.0.0.1:{self.plain}", "-D", ROOT,
            "-w", "root-secret", *more, input=text)
